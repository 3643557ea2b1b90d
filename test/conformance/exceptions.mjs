// Checks that cannot pass in a cell, each with its reason. One that passes is an error: take it off.

const LEGACY = ['legacy-stdio', 'legacy-http', 'legacy-stdio+lock', 'legacy-http+lock'];

/** `{ scenario, checks, cells, why }`; a cell is the label of a server in the gateway. */
export const EXCEPTIONS = [
  {
    scenario: 'input-required-result-basic-elicitation',
    checks: ['sep-2322-elicitation-incomplete', 'sep-2322-elicitation-complete'],
    cells: LEGACY,
    why: 'They want the key that the server gave its question. Questions of a legacy server have no keys, so the gateway gives them its own.',
  },
  {
    scenario: 'input-required-result-ignore-extra-params',
    checks: ['sep-2322-ignore-unexpected-params'],
    cells: LEGACY,
    why: 'It gives answers before any question, under the key of a modern server. A legacy server asks when it comes to that, and is answered then.',
  },
  {
    scenario: 'server-stateless',
    checks: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
    cells: LEGACY,
    why: 'Legacy servers have no error that names the capability they miss; what they answer instead is passed on as it is.',
  },
  {
    scenario: 'server-stateless',
    checks: [
      'sep-2575-server-sends-prompts-list-changed-on-subscription',
      'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
    cells: LEGACY.filter((cell) => cell.includes('stdio')),
    why: 'They change lists that are in the memory of one process, as a client that can be asked other things than the first one; each such kind of client has a process of its own.',
  },
];
