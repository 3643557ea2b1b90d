// Resources and the one template. `read(uri)` returns contents, or `undefined` for what does not exist.
import { PNG } from './content.mjs';

const resource = (uri, name, description, mimeType, contents) => ({
  definition: { uri, name, description, mimeType },
  contents: { uri, mimeType, ...contents },
});

export const resources = [
  resource('test://static-text', 'Static text', 'A text.', 'text/plain', {
    text: 'This is the content of the static text resource.',
  }),
  resource('test://static-binary', 'Static image', 'An image.', 'image/png', { blob: PNG }),
  resource('test://watched-resource', 'Watched resource', 'To subscribe to.', 'text/plain', {
    text: 'Watch me.',
  }),
  resource('test://example-resource', 'Example', 'For prompts to embed.', 'text/plain', {
    text: 'An example.',
  }),
];

export const changing = resource('test://changing-resource', 'Changing', 'Comes and goes.', 'text/plain', {
  text: 'Still here.',
});

export const templates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'Data by id',
    description: 'Data for any id.',
    mimeType: 'application/json',
  },
];

export function readTemplate(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) };
}
