// Small content that tools, prompts and resources show.

/** One red pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A sound of no length. */
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = (value) => ({ type: 'text', text: value });
export const image = () => ({ type: 'image', data: PNG, mimeType: 'image/png' });
export const audio = () => ({ type: 'audio', data: WAV, mimeType: 'audio/wav' });
export const embedded = (uri, mimeType, value) => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
});
export const said = (value) => ({ content: [text(value)] });

export const object = (properties = {}, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

/** Questions to the client, as tools ask them in either era. */
export const form = (message, properties, required) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: object(properties, required) },
});
export const link = (message, url) => ({
  method: 'elicitation/create',
  params: { mode: 'url', message, url },
});
export const sample = (prompt, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens },
});
export const roots = () => ({ method: 'roots/list', params: {} });
