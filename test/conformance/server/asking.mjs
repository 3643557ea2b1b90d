// Tools that ask the client something. `call.ask(requests)` hides how: by requests of the server's own (legacy), by an
// `input_required` result (modern), or through a task.
import { form, link, object, roots, said, sample } from './content.mjs';

const tool = (name, description, run, inputSchema = object()) => ({
  definition: { name, description, inputSchema },
  run,
});

const name = { name: { type: 'string' } };
const answerText = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;

const choices = (...values) => values.map(([value, title]) => ({ const: value, title }));
const OPTIONS = ['option1', 'option2', 'option3'];

export const asking = [
  tool(
    'test_sampling',
    "Asks the client's model.",
    async (call) => {
      const { reply } = await call.ask({ reply: sample(call.arguments.prompt) });
      return said(`LLM response: ${reply.content.text}`);
    },
    object({ prompt: { type: 'string' } }),
  ),
  tool(
    'test_elicitation',
    'Asks the person for a name and an address.',
    async (call) => {
      const fields = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      };
      const { user } = await call.ask({ user: form(call.arguments.message, fields) });
      return said(`User response: ${answerText(user)}`);
    },
    object({ message: { type: 'string' } }),
  ),
  tool('test_elicitation_url', 'Asks the person to open an address.', async (call) => {
    const { visit } = await call.ask({ visit: link('Please sign in.', 'https://example.com/sign-in') });
    return said(`URL elicitation completed: action=${visit.action}`);
  }),
  tool('test_elicitation_sep1034_defaults', 'Asks with a default for every kind of field.', async (call) => {
    const fields = {
      name: { type: 'string', description: 'User name', default: 'John Doe' },
      age: { type: 'integer', description: 'User age', default: 30 },
      score: { type: 'number', description: 'User score', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', description: 'Whether verified', default: true },
    };
    const { profile } = await call.ask({ profile: form('Please review your profile.', fields, []) });
    return said(`Elicitation completed: ${answerText(profile)}`);
  }),
  tool('test_elicitation_sep1330_enums', 'Asks with every kind of choice.', async (call) => {
    const fields = {
      untitledSingle: { type: 'string', enum: OPTIONS },
      titledSingle: {
        type: 'string',
        oneOf: choices(['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option']),
      },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
      titledMulti: {
        type: 'array',
        items: {
          anyOf: choices(['value1', 'First Choice'], ['value2', 'Second Choice'], ['value3', 'Third Choice']),
        },
      },
    };
    const { choice } = await call.ask({ choice: form('Please choose.', fields, []) });
    return said(`Elicitation completed: ${answerText(choice)}`);
  }),
  tool('test_missing_capability', 'Cannot work without sampling.', async (call) => {
    const { reply } = await call.ask({ reply: sample('Anything') });
    return said(`LLM response: ${reply.content.text}`);
  }),
  tool('test_streaming_elicitation', 'Reports progress, then asks.', async (call) => {
    call.progress(1, 2);
    const { confirmation } = await call.ask({ confirmation: form('Go on?', { ok: { type: 'boolean' } }) });
    return said(`Answered: ${answerText(confirmation)}`);
  }),
  tool('test_input_required_result_elicitation', 'Asks for a name.', async (call) => {
    const { user_name } = await call.ask({ user_name: form('What is your name?', name) });
    return said(`Hello, ${user_name.content?.name ?? 'stranger'}!`);
  }),
  tool('test_input_required_result_sampling', 'Asks for a capital.', async (call) => {
    const { capital_question } = await call.ask({
      capital_question: sample('What is the capital of France?'),
    });
    return said(capital_question.content.text);
  }),
  tool('test_input_required_result_list_roots', 'Asks for the roots.', async (call) => {
    const { client_roots } = await call.ask({ client_roots: roots() });
    return said(`Roots: ${client_roots.roots.map(({ uri }) => uri).join(', ')}`);
  }),
  tool('test_input_required_result_request_state', 'Asks, and keeps state.', async (call) => {
    await call.ask({ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }, { state: true });
    return said('state-ok');
  }),
  tool('test_input_required_result_tampered_state', 'Asks, and checks its state.', async (call) => {
    await call.ask({ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }, { state: true });
    return said('state-ok');
  }),
  tool('test_input_required_result_multiple_inputs', 'Asks three things at once.', async (call) => {
    const requests = {
      user_name: form('What is your name?', name),
      greeting: sample('Generate a greeting', 50),
      client_roots: roots(),
    };
    const { user_name, greeting, client_roots } = await call.ask(requests, { state: true });
    return said(
      `${greeting.content.text} ${user_name.content?.name}, with ${client_roots.roots.length} roots.`,
    );
  }),
  tool('test_input_required_result_multi_round', 'Asks twice, one after the other.', async (call) => {
    const { step1 } = await call.ask({ step1: form('Step 1: What is your name?', name) }, { state: true });
    const color = { color: { type: 'string' } };
    const { step2 } = await call.ask(
      { step2: form('Step 2: What is your favorite color?', color) },
      { state: true },
    );
    return said(`${step1.content?.name} likes ${step2.content?.color}.`);
  }),
  tool('test_input_required_result_capabilities', 'Asks only what the client can do.', async (call) => {
    const requests = {
      user_name: form('What is your name?', name),
      greeting: sample('Generate a greeting', 50),
    };
    const answers = await call.ask(requests, { optional: true });
    return said(`Answered: ${Object.keys(answers).join(', ')}`);
  }),
];
