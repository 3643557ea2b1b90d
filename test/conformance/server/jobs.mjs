// Tools that can run as a task: `task` is `optional` or `required`. What `prepare(call)` asks comes before the task
// exists; `run(call, prepared)` is its work.
import { form, object, said } from './content.mjs';
import { CODES, RpcError } from './rpc.mjs';

const job = (name, description, task, run, inputSchema = object()) => ({
  definition: { name, description, inputSchema },
  task,
  run,
});

const confirm = { confirm: { type: 'boolean' } };

const prepared = job('test_tool_with_task', 'Asks for a name, then works on.', 'required', (_call, answers) =>
  said(`Hello, ${answers.user_name.content?.name}, from a task.`),
);
prepared.prepare = (call) =>
  call.ask({ user_name: form('What is your name?', { name: { type: 'string' } }) });

export const jobs = [
  {
    definition: {
      name: 'greet',
      description: 'Greets at once.',
      inputSchema: object({ name: { type: 'string' } }),
    },
    run: (call) => said(`Hello, ${call.arguments.name}!`),
  },
  job(
    'slow_compute',
    'Takes as many seconds as it is told.',
    'optional',
    async (call) => {
      const { seconds, label = 'nothing' } = call.arguments;
      await call.sleep(seconds * 1000);
      return said(`Computed ${label} in ${seconds} s.`);
    },
    object({ seconds: { type: 'number', minimum: 0 }, label: { type: 'string' } }, ['seconds']),
  ),
  job('failing_job', 'Fails after a while.', 'required', async (call) => {
    await call.sleep(200);
    return { ...said('This job always fails.'), isError: true };
  }),
  job('protocol_error_job', 'Breaks down after a while.', 'optional', async (call) => {
    await call.sleep(100);
    throw new RpcError(CODES.internal, 'This job always breaks down.');
  }),
  job(
    'confirm_delete',
    'Asks before it deletes.',
    'optional',
    async (call) => {
      const { filename } = call.arguments;
      const { confirmation } = await call.ask({ confirmation: form(`Delete ${filename}?`, confirm) });
      return said(confirmation.content?.confirm === true ? `Deleted ${filename}.` : `Kept ${filename}.`);
    },
    object({ filename: { type: 'string' } }),
  ),
  job('multi_input', 'Asks two things at once.', 'optional', async (call) => {
    const requests = {
      first: form('First?', { name: { type: 'string' }, ...confirm }, []),
      second: form('Second?', { name: { type: 'string' }, ...confirm }, []),
    };
    const { first, second } = await call.ask(requests);
    return said(`First ${first.action}, second ${second.action}.`);
  }),
  prepared,
];
