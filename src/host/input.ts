/** What a server asks while a call runs, put to whoever answers asks; a decline is noted so that the result's reader knows. */
import type { Answer, Ask, Asks } from '../asks/asks.ts';
import type { AnswerInput, InputContext, InputRequest } from '../mcp/input.ts';
import { validate } from '../schema/index.ts';
import { objectOf } from '../schema/keywords.ts';
import { scanAsk } from '../trust/scan/ask.ts';
import type { Json, JsonObject } from '../types.ts';

/** The client capabilities that this file can answer for. They never depend on who is there: lists must not vary with it. */
export const ANSWERABLE: JsonObject = { elicitation: { form: {}, url: {} } };

export function answerInput(asks: Asks, onNote: (note: string) => void): AnswerInput {
  return async (request, context) => {
    if (request.method !== 'elicitation/create') {
      throw new Error(`${request.method} is not offered by this host`);
    }
    const ask = toAsk(request, context);
    if (ask.kind === 'url' && !isWebAddress(ask.url)) {
      onNote(
        `Server ${context.label} asked for an address to be opened that is not http or https; it was declined.`,
      );
      return { action: 'decline' };
    }
    const rule = ruleAgainst(ask);
    if (rule !== undefined) {
      onNote(
        `Server ${context.label} asked for something that no server may ask for (${rule}); nobody was asked, and it was declined.`,
      );
      return { action: 'decline' };
    }
    return settle(await asks.ask(ask, { signal: context.signal }), request, context, onNote);
  };
}

/** The rule that forbids a server's question, whoever would answer it; undefined: it may be asked. */
export function ruleAgainstInput(request: InputRequest, context: InputContext): string | undefined {
  if (request.method !== 'elicitation/create') return undefined;
  const ask = toAsk(request, context);
  return ask.kind === 'url' && !isWebAddress(ask.url) ? 'its address is not http or https' : ruleAgainst(ask);
}

/** Secrets belong in no form (MCP elicitation), and an address that looks like another is not opened. */
function ruleAgainst(ask: Ask): string | undefined {
  if (ask.kind === 'approve') return undefined;
  try {
    return scanAsk(ask).find(({ tier }) => tier === 'hard')?.rule;
  } catch {
    return 'it could not be checked';
  }
}

function toAsk({ params }: InputRequest, { label, tool }: InputContext): Parameters<Asks['ask']>[0] {
  const common = { label, ...(tool !== undefined && { tool }), message: text(params['message']) };
  if (params['mode'] === 'url') return { kind: 'url', ...common, url: text(params['url']) };
  return { kind: 'form', ...common, schema: objectOf(params['requestedSchema']) };
}

function settle(
  answer: Answer,
  { params }: InputRequest,
  { label }: InputContext,
  onNote: (note: string) => void,
): JsonObject {
  if (answer.action !== 'accept') {
    const how = answer.action === 'cancel' ? 'canceled' : 'declined';
    const reason = answer.reason === undefined ? '' : `: ${answer.reason}`;
    onNote(
      `Server ${label} asked for input (${JSON.stringify(text(params['message']).slice(0, 200))}); it was ${how}${reason}.`,
    );
    return { action: answer.action };
  }
  if (params['mode'] === 'url') return { action: 'accept' };
  const schema = objectOf(params['requestedSchema']);
  const content = withDefaults(schema, answer.content ?? {});
  const verdict = validate({ type: 'object', ...schema }, content);
  if (verdict.ok !== true) {
    const problem = verdict.ok === false ? verdict.problem : verdict.reason;
    onNote(`Server ${label} asked for input; the answer did not fit its form (${problem}) and was declined.`);
    return { action: 'decline' };
  }
  return { action: 'accept', content };
}

/** Fields that were left open take the form's defaults (MCP elicitation, SEP-1034). */
function withDefaults(schema: JsonObject, content: JsonObject): JsonObject {
  const defaults = Object.entries(objectOf(schema['properties'])).flatMap(([name, field]) => {
    const value = objectOf(field)['default'];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...defaults, ...Object.entries(content)]);
}

/** Nothing else may be opened: `javascript:`, `file:` and the schemes of programs act here. */
const isWebAddress = (url: string): boolean => /^https?:/i.test(url) && URL.canParse(url);

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
