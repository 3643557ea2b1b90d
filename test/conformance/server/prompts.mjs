// Prompts: `{ definition, get(call) }`, where `call.ask` is as in tools.
import { embedded, form, image, text } from './content.mjs';

const user = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
const required = (name, description) => ({ name, description, required: true });

const prompt = (name, description, args, get) => ({
  definition: { name, description, ...(args.length > 0 && { arguments: args }) },
  get,
});

export const prompts = [
  prompt('test_simple_prompt', 'One message.', [], () => user(text('This is a simple prompt for testing.'))),
  prompt(
    'test_prompt_with_arguments',
    'Shows both arguments.',
    [required('arg1', 'First test argument'), required('arg2', 'Second test argument')],
    ({ arguments: { arg1, arg2 } }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ),
  prompt(
    'test_prompt_with_embedded_resource',
    'Embeds a resource.',
    [required('resourceUri', 'URI of the resource to embed')],
    ({ arguments: { resourceUri } }) =>
      user(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  ),
  prompt('test_prompt_with_image', 'Shows an image.', [], () =>
    user(image(), text('Please analyze the image above.')),
  ),
  prompt('test_input_required_result_prompt', 'Asks before it answers.', [], async (call) => {
    const fields = { context: { type: 'string' } };
    const { user_context } = await call.ask({
      user_context: form('What context should the prompt use?', fields),
    });
    return user(text(`Use this context: ${user_context.content?.context}`));
  }),
];

export const changing = prompt('test_changing_prompt', 'Comes and goes.', [], () =>
  user(text('Still here.')),
);

const VALUES = ['paris', 'park', 'party', 'testValue1', 'testValue2'];

/** Values that start with what was typed. */
export function complete({ argument }) {
  const values = VALUES.filter((value) => value.startsWith(argument.value));
  return { completion: { values, total: values.length, hasMore: false } };
}
