import { describe, expect, it } from 'vitest';
import {
  DEFAULT_POLICY,
  decide,
  type Decided,
  isRememberable,
  newTaint,
  type PolicyCall,
  type Remembered,
  type Taint,
} from '../../../src/trust/policy/policy.ts';
import type { Policy, PolicyRule, ToolLabel, ToolResult } from '../../../src/types.ts';

const CALL: PolicyCall = { label: 'files', tool: 'read', arguments: {}, digest: 'sha256-a', labels: [] };
const policyOf = (rules: PolicyRule[], more: Partial<Policy> = {}): Policy => ({
  ...DEFAULT_POLICY,
  rules,
  ...more,
});

function taintOf(...labels: ToolLabel[]): Taint {
  const taint = newTaint();
  taint.saw({ label: 'web', tool: 'fetch', labels }, { content: [] }, false);
  return taint;
}

function decided(
  policy: Policy,
  call: Partial<PolicyCall> = {},
  { taint = newTaint(), remembered }: { taint?: Taint; remembered?: Remembered } = {},
): Decided {
  return decide(policy, { ...CALL, ...call }, { taint, remembered: () => remembered });
}
const said = ({ action, rule }: Decided): string => `${action} by ${rule}`;

describe('the default', () => {
  it.each<[ToolLabel[], string]>([
    [['reads'], 'allow by default'],
    [['reads', 'untrusted', 'private'], 'allow by default'],
    [['reads', 'sends'], 'ask by default'],
    [['reads', 'destroys'], 'ask by default'],
    [['private'], 'ask by default'],
    [[], 'ask by default'],
  ])('for a tool labeled %j is %s', (labels, wanted) => {
    expect(said(decided(DEFAULT_POLICY, { labels }))).toBe(wanted);
  });

  it('may be allow, ask or deny for whatever no rule matches', () => {
    for (const action of ['allow', 'ask', 'deny'] as const) {
      expect(said(decided(policyOf([], { default: action })))).toBe(`${action} by default`);
    }
  });

  it('says in one sentence why', () => {
    expect(decided(DEFAULT_POLICY).why).toBe(
      'No rule matches, and the tool has no labels: what it does is not known.',
    );
    expect(decided(DEFAULT_POLICY, { labels: ['reads'] })).toEqual({
      action: 'allow',
      rule: 'default',
      why: 'It is labeled as reading alone.',
      labels: ['reads'],
    });
  });
});

describe('rules', () => {
  it('are asked in order, and the first that matches decides', () => {
    const policy = policyOf([
      { tools: ['mail/*'], action: 'deny' },
      { tools: ['files/write*', 'files/read'], action: 'allow', reason: 'our own folder' },
      { tools: ['files/*'], action: 'deny' },
    ]);
    expect(said(decided(policy))).toBe('allow by rules[1]');
    expect(decided(policy).why).toBe('rules[1] of the policy allows it: our own folder.');
    expect(said(decided(policy, { tool: 'move' }))).toBe('deny by rules[2]');
    expect(said(decided(policy, { label: 'other' }))).toBe('ask by default');
  });

  it.each([
    ['*', 'files/read'],
    ['files/*', 'files/a/b'],
    ['files/*', 'files/.hidden'],
    ['files/*', 'files/a\nb'],
    ['*/delete_*', 'x/y/delete_all'],
    ['{files,mail}/read', 'mail/read'],
    ['files/\\*', 'files/*'],
  ])('match %s against %j', (glob, name) => {
    const [label = '', ...tool] = name.split('/');
    const policy = policyOf([{ tools: [glob], action: 'deny' }]);
    expect(decided(policy, { label, tool: tool.join('/') }).action).toBe('deny');
  });

  it.each([
    ['files/read', 'files/READ'],
    ['files/read', 'files/read_all'],
    ['!files/read', 'mail/send'],
    ['files/\\*', 'files/x'],
  ])('do not match %s against %j', (glob, name) => {
    const [label = '', tool = ''] = name.split('/');
    const policy = policyOf([{ tools: [glob], action: 'deny' }]);
    expect(decided(policy, { label, tool }).action).toBe('ask');
  });

  it('match by labels of the lock and of the policy together', () => {
    const policy = policyOf([{ labels: ['private', 'sends'], action: 'deny' }], {
      labels: [
        { tools: 'files/*', labels: ['sends'] },
        { tools: '*/nothing', labels: ['destroys'] },
      ],
    });
    expect(said(decided(policy, { labels: ['private'] }))).toBe('deny by rules[0]');
    expect(decided(policy, { labels: ['private'] }).labels).toEqual(['private', 'sends']);
    expect(said(decided(policy, { labels: ['reads'] }))).toBe('ask by default');
  });

  it('match by arguments that fit a schema', () => {
    const inNotes: PolicyRule = {
      tools: ['files/read'],
      arguments: { properties: { path: { type: 'string', pattern: '^notes/' } }, required: ['path'] },
      action: 'allow',
    };
    expect(said(decided(policyOf([inNotes]), { arguments: { path: 'notes/a' } }))).toBe('allow by rules[0]');
    expect(said(decided(policyOf([inNotes]), { arguments: { path: 'other' } }))).toBe('ask by default');
    expect(said(decided(policyOf([inNotes]), { arguments: {} }))).toBe('ask by default');
  });

  it.each([
    ['allow', 'ask by rules[0]'],
    ['ask', 'ask by rules[0]'],
    ['deny', 'deny by rules[0]'],
  ] as const)('that %s by a schema that cannot be decided fail closed', (action, wanted) => {
    const policy = policyOf([
      { arguments: { properties: { a: { pattern: '(?=x)(?<y>z)\\k<y>' } } }, action },
      { action: 'allow' },
    ]);
    const found = decided(policy, { arguments: { a: 'text' } });
    expect(said(found)).toBe(wanted);
    expect(found.why).toContain('cannot be checked safely');
  });
});

describe('hints of a server', () => {
  it.each([
    { destructiveHint: true },
    { readOnlyHint: false },
    { readOnlyHint: true, destructiveHint: true },
  ])('%j make a tool ask that is labeled as reading', (hints) => {
    expect(said(decided(DEFAULT_POLICY, { labels: ['reads'], hints }))).toBe('ask by hints');
    const byLabel = policyOf([{ labels: ['reads'], action: 'allow' }]);
    expect(said(decided(byLabel, { labels: ['reads'], hints }))).toBe('ask by hints');
  });

  it('never allow', () => {
    const hints = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    expect(said(decided(DEFAULT_POLICY, { hints }))).toBe('ask by default');
    expect(said(decided(DEFAULT_POLICY, { labels: ['sends'], hints }))).toBe('ask by default');
  });

  it('give way to a rule that names the tool', () => {
    const policy = policyOf([{ tools: ['files/read'], labels: ['reads'], action: 'allow' }]);
    const call = { labels: ['reads' as const], hints: { destructiveHint: true } };
    expect(said(decided(policy, call))).toBe('allow by rules[0]');
  });
});

describe("a person's remembered word", () => {
  const word = (
    action: Remembered['action'],
    change: Partial<Remembered> = {},
  ): { remembered: Remembered } => ({
    remembered: { label: 'files', tool: 'read', digest: 'sha256-a', action, ...change },
  });

  it('answers what the default, the hints and a rule ask', () => {
    expect(said(decided(DEFAULT_POLICY, {}, word('allow')))).toBe('allow by remembered');
    expect(said(decided(DEFAULT_POLICY, {}, word('deny')))).toBe('deny by remembered');
    expect(said(decided(policyOf([{ action: 'ask' }]), {}, word('allow')))).toBe('allow by remembered');
    const hinted = { labels: ['reads' as const], hints: { destructiveHint: true } };
    expect(said(decided(DEFAULT_POLICY, hinted, word('allow')))).toBe('allow by remembered');
  });

  it('refuses also what a rule allows, and never allows what a rule denies', () => {
    expect(said(decided(policyOf([{ action: 'allow' }]), {}, word('deny')))).toBe('deny by remembered');
    expect(said(decided(policyOf([{ action: 'deny' }]), {}, word('allow')))).toBe('deny by rules[0]');
  });

  it.each<Partial<Remembered>>([{ label: 'other' }, { tool: 'other' }, { digest: 'sha256-b' }])(
    'does not hold for another %j',
    (change) => {
      expect(said(decided(DEFAULT_POLICY, {}, word('allow', change)))).toBe('ask by default');
      expect(said(decided(DEFAULT_POLICY, {}, word('deny', change)))).toBe('ask by default');
    },
  );

  it('does not cover what asks for what was seen or touched', () => {
    const toxic = { ...word('allow'), taint: taintOf('untrusted', 'private') };
    expect(said(decided(DEFAULT_POLICY, { labels: ['sends'] }, toxic))).toBe('ask by taint');
    expect(said(decided(DEFAULT_POLICY, { arguments: { path: '.env' } }, word('allow')))).toBe(
      'ask by protected-path',
    );
    expect(['taint', 'leak', 'protected-path', 'default', 'hints', 'rules[0]'].map(isRememberable)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });
});

describe('taint', () => {
  const everything = taintOf('untrusted', 'private');

  it.each<[ToolLabel[], string]>([
    [['sends'], 'ask by taint'],
    [['destroys'], 'ask by taint'],
    [[], 'ask by taint'],
    [['reads'], 'allow by rules[0]'],
    [['reads', 'private', 'untrusted'], 'allow by rules[0]'],
  ])('of strangers and private data makes a tool labeled %j: %s', (labels, wanted) => {
    expect(said(decided(policyOf([{ action: 'allow' }]), { labels }, { taint: everything }))).toBe(wanted);
  });

  it('of only one of the two changes nothing, unless the tool itself reads private data and sends it', () => {
    const policy = policyOf([{ action: 'allow' }]);
    for (const label of ['untrusted', 'private'] as const)
      expect(decided(policy, { labels: ['sends'] }, { taint: taintOf(label) }).action).toBe('allow');
    const both = decided(policy, { labels: ['private', 'sends'] }, { taint: taintOf('untrusted') });
    expect(said(both)).toBe('ask by taint');
    expect(both.why).toBe(
      'Text of strangers (web/fetch) and private data (this tool itself) were seen, and this tool lets data leave.',
    );
  });

  it('takes a suspicious result for a word of strangers', () => {
    const taint = newTaint();
    taint.saw({ label: 'a', tool: 'b', labels: ['private'] }, { content: [] }, true);
    expect(said(decided(policyOf([{ action: 'allow' }]), { labels: ['sends'] }, { taint }))).toBe(
      'ask by taint',
    );
  });

  it('is covered by a rule that says so, and by no other', () => {
    const call = { labels: ['sends' as const] };
    const context = { taint: everything };
    expect(said(decided(policyOf([{ action: 'allow', tainted: 'allow' }]), call, context))).toBe(
      'allow by rules[0]',
    );
    expect(said(decided(policyOf([{ action: 'deny' }]), call, context))).toBe('deny by rules[0]');
    expect(said(decided(policyOf([], { default: 'allow' }), call, context))).toBe('ask by taint');
  });

  it('only grows, names who brought it once, and is not changed from outside', () => {
    const taint = newTaint();
    const see = (labels: ToolLabel[], suspicious = false): void =>
      taint.saw({ label: 'web', tool: 'fetch', labels }, { content: [] }, suspicious);
    see(['untrusted']);
    see(['untrusted', 'private'], true);
    see([]);
    (taint.untrusted as string[]).push('x');
    (taint.untrusted as string[]).length = 0;
    expect([taint.untrusted, taint.private, taint.suspicious]).toEqual([
      ['web/fetch'],
      ['web/fetch'],
      ['web/fetch'],
    ]);
  });

  it('names at most three tools, none of them at length', () => {
    const taint = newTaint();
    for (const tool of ['a', 'b', 'c', 'd', 'x'.repeat(500)])
      taint.saw({ label: 'web', tool, labels: ['untrusted', 'private'] }, { content: [] }, false);
    const { why } = decided(DEFAULT_POLICY, { labels: ['sends'] }, { taint });
    expect(why).toContain('(web/a, web/b, web/c and 2 more)');
    expect(why.length).toBeLessThan(300);
  });
});

describe('what a call carries', () => {
  const secret = 'The merger with Example Corp closes on Friday at noon.';
  const allow = policyOf([{ action: 'allow' }]);
  const read = (labels: ToolLabel[], result: Partial<ToolResult>): Taint => {
    const taint = newTaint();
    taint.saw({ label: 'files', tool: 'read', labels }, { content: [], ...result }, false);
    return taint;
  };
  const mail = (body: string, labels: ToolLabel[] = ['sends'], label = 'mail'): Partial<PolicyCall> => ({
    label,
    tool: 'send',
    arguments: { to: 'x@example.com', body },
    labels,
  });
  const taint = read(['private'], { content: [{ type: 'text', text: `Note: ${secret}` }] });

  it.each([
    ['plainly', `FYI: ${secret} Bye`, ''],
    ['encoded', Buffer.from(secret).toString('base64'), ', as base64,'],
  ])('of a private result of another server, %s, asks before it is sent', (_, body, how) => {
    const found = decided(allow, mail(body), { taint });
    expect(said(found)).toBe('ask by leak');
    expect(found.why).toMatch(
      new RegExp(
        `^The argument at "/body" repeats${how} \\d+ characters of a private result of files/read\\.$`,
      ),
    );
    expect(said(decided(allow, mail(body, []), { taint }))).toBe('ask by leak');
  });

  it('may be little, go back to where it came from, stay here, or come from what is not private', () => {
    expect(decided(allow, mail('The merger'), { taint }).action).toBe('allow');
    expect(decided(allow, mail(secret, ['sends'], 'files'), { taint }).action).toBe('allow');
    expect(decided(allow, mail(secret, ['destroys']), { taint }).action).toBe('allow');
    const open = read(['reads'], { content: [{ type: 'text', text: secret }] });
    expect(decided(allow, mail(secret), { taint: open }).action).toBe('allow');
  });

  it('counts also when it came as a resource or as structured content', () => {
    const resource = { type: 'resource', resource: { uri: 'file:///a', text: secret } };
    for (const result of [{ content: [resource] }, { structuredContent: { note: secret } }])
      expect(said(decided(allow, mail(secret), { taint: read(['private'], result) }))).toBe('ask by leak');
  });

  it('is covered by a rule that says so, and never allowed by a remembered word', () => {
    const tainted = policyOf([{ action: 'allow', tainted: 'allow' }]);
    expect(decided(tainted, mail(secret), { taint }).action).toBe('allow');
    const word = { label: 'mail', tool: 'send', digest: 'sha256-a', action: 'allow' as const };
    expect(said(decided(DEFAULT_POLICY, mail(secret), { taint, remembered: word }))).toBe('ask by leak');
  });
});
