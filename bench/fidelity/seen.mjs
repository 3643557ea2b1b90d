// Reads requests to the model APIs: which tools they offer, and what they say after the model's calls.

/** The tools of a request in one form. */
export function toolsIn(body) {
  return (body?.tools ?? [])
    .flatMap((entry) => entry.functionDeclarations ?? entry.tools ?? [entry.function ?? entry])
    .map(({ name, description, strict, ...rest }) => ({
      name,
      description,
      strict,
      schema: rest.input_schema ?? rest.parametersJsonSchema ?? rest.parameters ?? {},
    }));
}

/** What stands in a request after the last turn of the model. */
export function afterCalls(body, api) {
  const list = body?.messages ?? body?.contents ?? body?.input;
  const after = { texts: [], media: [], isError: false, ids: [] };
  if (!Array.isArray(list)) return { ...after, words: '', isTold: false };
  const isModel = (one) =>
    one.role === 'assistant' ||
    one.role === 'model' ||
    one.type === 'function_call' ||
    one.type === 'reasoning' ||
    one.type === 'model_output';
  const last = list.findLastIndex(isModel);
  for (const one of list.slice(last + 1)) read(one, after);
  const words = after.texts.join('\n');
  const inWords = /error|fail|invalid|not found|no tool|unavailable/i.test(words.replaceAll(/MARK-\w+/g, ''));
  // The APIs of OpenAI have no flag: there the words must say it.
  const isError = after.isError || (api.startsWith('openai') && inWords);
  return { ...after, words, isError, isTold: isError || inWords };
}

function read(node, after) {
  if (typeof node === 'string') return void after.texts.push(node);
  if (Array.isArray(node)) return node.forEach((one) => read(one, after));
  if (typeof node !== 'object' || node === null) return undefined;
  if (node.is_error === true) after.isError = true;
  const id = node.tool_use_id ?? node.call_id ?? node.tool_call_id;
  if (id !== undefined) after.ids.push(id);
  if (node.functionResponse !== undefined) return readResponse(node.functionResponse, after);
  if (node.inlineData !== undefined) return medium(node.inlineData.mimeType, node.inlineData.data, after);
  switch (node.type) {
    case 'input_image':
      return address(node.image_url, after);
    case 'image_url':
      return address(node.image_url.url, after);
    case 'input_file':
      return address(node.file_data, after);
    case 'file':
      return address(node.file.file_data, after);
    case 'input_audio':
      return medium(`audio/${node.input_audio.format}`, node.input_audio.data, after);
    case 'image':
    case 'audio':
    case 'video':
    case 'document':
      if (node.source?.type === 'base64') medium(node.source.media_type, node.source.data, after);
      else if (node.source !== undefined) after.texts.push(node.source.data ?? node.source.url ?? '');
      else medium(node.mime_type, node.data, after);
      for (const name of ['title', 'context'])
        if (typeof node[name] === 'string') after.texts.push(node[name]);
      return undefined;
    case 'function_result':
      if (typeof node.result === 'object' && !Array.isArray(node.result))
        after.texts.push(JSON.stringify(node.result));
      else read(node.result, after);
      return undefined;
    default:
      for (const name of ['text', 'content', 'output', 'parts'])
        if (node[name] !== undefined) read(node[name], after);
      return undefined;
  }
}

function readResponse({ id, response, parts }, after) {
  after.ids.push(id ?? null);
  if (response?.error !== undefined) after.isError = true;
  const only = Object.values(response ?? {});
  after.texts.push(
    only.length === 1 && typeof only[0] === 'string' ? only[0] : JSON.stringify(response ?? {}),
  );
  read(parts, after);
}

function address(url, after) {
  const [, mimeType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url ?? '') ?? [];
  if (data !== undefined) medium(mimeType, data, after);
}

function medium(mimeType, data, after) {
  after.media.push({ mimeType, data });
}
