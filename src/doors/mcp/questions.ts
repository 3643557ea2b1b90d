/** Questions of servers and of the policy, put to the client that the request came from, where it can answer them. */
import type { Answer, Ask, Asks } from '../../asks/asks.ts';
import { answerInput, ruleAgainstInput } from '../../host/input.ts';
import type { AnswerInput, InputRequest } from '../../mcp/input.ts';
import { isObject } from '../../mcp/message.ts';
import type { JsonObject } from '../../types.ts';
import type { Exchange } from './client.ts';
import type { View } from './view.ts';

/** Whether a client declared that it can answer a question, mode by mode. */
export function canAnswer(capabilities: JsonObject, { method, params }: InputRequest): boolean {
  switch (method) {
    case 'elicitation/create':
      return elicits(capabilities, params['mode'] === 'url' ? 'url' : 'form');
    case 'sampling/createMessage':
      return isObject(capabilities['sampling']);
    case 'roots/list':
      return isObject(capabilities['roots']);
    default:
      return false;
  }
}

/** `{}` means forms alone (MCP elicitation). */
function elicits(capabilities: JsonObject, mode: 'form' | 'url'): boolean {
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  return isObject(elicitation[mode]) || (mode === 'form' && !isObject(elicitation['url']));
}

/** What a server is told that its client can answer: what the client can, and forms and addresses where others answer for it. */
export function declaredUpstream(capabilities: JsonObject, others: Asks | undefined): JsonObject {
  if (others === undefined || isObject(capabilities['elicitation'])) return capabilities;
  return { ...capabilities, elicitation: { form: {}, url: {} } };
}

/** Answers what a server asks during an exchange: the client does, or whoever the gateway has where it cannot. */
export function inputOf(
  exchange: Exchange,
  view: View,
  others: Asks | undefined,
  note: (text: string) => void,
): AnswerInput {
  return async (request, context) => {
    const rule = ruleAgainstInput(request, context);
    if (rule !== undefined) {
      note(`${context.label} asked for something that no server may ask for (${rule}); it was declined`);
      return { action: 'decline' };
    }
    if (canAnswer(exchange.capabilities, request))
      return exchange.ask(attributed(request, context.label, view), context);
    if (others !== undefined) return answerInput(others, note)(request, context);
    if (request.method !== 'elicitation/create')
      throw new Error(`the client cannot answer ${request.method}`);
    note(`${context.label} asked for input, which this client cannot give; it was declined`);
    return { action: 'decline' };
  };
}

/** The rule that forbids a round of a modern server, and which of its questions; undefined: it may be asked. */
export function ruleAgainstRound(
  requests: Readonly<Record<string, InputRequest>>,
  context: { label: string; signal: AbortSignal },
): string | undefined {
  for (const request of Object.values(requests)) {
    const rule = ruleAgainstInput(request, context);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** The rounds of a modern server, attributed as single questions are. */
export function roundOf(
  requests: Readonly<Record<string, InputRequest>>,
  label: string,
  view: View,
): Record<string, InputRequest> {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, attributed(request, label, view)]),
  );
}

function attributed(request: InputRequest, label: string, view: View): InputRequest {
  const { message } = request.params;
  if (typeof message !== 'string') return request;
  return { ...request, params: { ...request.params, message: view.attributed(label, message) } };
}

const ANSWERS = ['once', 'run', 'always', 'no'] as const;

/** Asks whether a call may run through the client's own elicitation; undefined where it has none. */
export function approvalsOf(exchange: Exchange): Asks | undefined {
  if (!elicits(exchange.capabilities, 'form')) return undefined;
  return {
    async ask(ask, { signal }) {
      const question = { method: 'elicitation/create', params: approvalForm(ask) };
      try {
        return answered(await exchange.ask(question, { label: ask.label, signal }), exchange);
      } catch (error) {
        return { action: 'cancel', reason: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function approvalForm(ask: Ask): JsonObject {
  const args = ask.kind === 'approve' ? JSON.stringify(ask.arguments, null, 1) : '';
  const why = ask.kind === 'approve' && ask.why !== undefined ? `\n${ask.why}` : '';
  return {
    mode: 'form',
    message: `Midspan asks: ${ask.message}${why}\nArguments: ${args.length > 4000 ? `${args.slice(0, 4000)} … (${args.length} characters)` : args}`,
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'May it run?',
          oneOf: [
            { const: 'once', title: 'Yes, this once' },
            { const: 'run', title: 'Yes, in this session' },
            { const: 'always', title: 'Yes, always, as long as its definition stays the same' },
            { const: 'no', title: 'No' },
          ],
        },
      },
      required: ['answer'],
    },
  };
}

/** Whatever is not a clear yes is a no. */
function answered({ action, content }: JsonObject, { client }: Exchange): Answer {
  const by = client.principal.name;
  if (action !== 'accept') return { action: action === 'decline' ? 'decline' : 'cancel', by };
  const answer = ANSWERS.find((known) => isObject(content) && content['answer'] === known);
  if (answer === undefined || answer === 'no') return { action: 'decline', by };
  return { action: 'accept', remember: answer, by };
}
