/** Gemini generateContent, streamed with `streamGenerateContent?alt=sse`; the model stands in the address, not in the body. */
import type { ContentBlock, JsonObject } from '../types.ts';
import { callId, isMinted, readArguments, readCalls } from './calls.ts';
import { wanted } from './choice.ts';
import type { DefinitionRules } from './compile.ts';
import { compile } from './compile.ts';
import type { Media, Piece, Place } from './content.ts';
import { joinedText, readBlocks } from './content.ts';
import { conversation } from './conversation.ts';
import type {
  CallResult,
  Dialect,
  ResultOptions,
  Stop,
  Turn,
  TurnDelta,
  TurnReader,
  TurnRequest,
  Usage,
} from './dialect.ts';
import { apiError, endedEarly } from './failures.ts';
import { asNumber, asObject, asObjects, asText } from './json.ts';
import { captionOf, readResult } from './results.ts';

const rules: DefinitionRules = {
  dialect: 'gemini',
  profile: 'gemini-json-schema',
  names: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  maxTools: 512,
  describe: true,
  tokenFactor: 1.05,
  entry: ({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }),
  list: (functionDeclarations) => [{ functionDeclarations }],
};

/** Base64 characters: a request with everything in it may have 20 MB. */
const mostMedia = 19_000_000;
/** Takes the place of a signature on calls that an older or another provider's model made. */
const foreignSignature = 'skip_thought_signature_validator';

const stops: Record<string, Stop> = {
  STOP: 'complete',
  MAX_TOKENS: 'max-tokens',
  CONTINUATION: 'pause',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  LANGUAGE: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  MODEL_ARMOR: 'content-filter',
};

/** Where the API gives an error in place of the call that the model tried to make. */
const repairs: Record<string, string> = {
  MALFORMED_FUNCTION_CALL:
    'Your function call could not be read. Make it again, as one call with arguments that fit its schema.',
  UNEXPECTED_TOOL_CALL:
    'You called a function that cannot be called now. Use only the functions that are declared, or answer in text.',
};

export const gemini: Dialect = {
  id: 'gemini',
  definitions: (tools) => compile(tools, rules),
  calls: (body: JsonObject) => turn(body, '').message.calls,
  turn,
  reader,
  results(results, options) {
    const losses: string[] = [];
    const parts = resultParts(results, options, losses);
    return { messages: parts.length === 0 ? [] : [{ role: 'user', parts }], losses };
  },
  request(request, options) {
    const losses: string[] = [];
    const { system, maxTokens, extra } = request;
    const { tools } = request.tools;
    const choice = callingConfig(request, losses);
    const generationConfig = {
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...asObject(extra?.['generationConfig']),
    };
    return {
      body: {
        ...(system === undefined || system === ''
          ? {}
          : { systemInstruction: { parts: [{ text: system }] } }),
        contents: contents(request, { model: request.model, ...options }, losses),
        ...(tools.length === 0 ? {} : { tools }),
        ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: choice } }),
        ...extra,
        ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
      },
      losses,
    };
  },
};

/** Gemini 3 and later take media in results, give calls ids and insist on signatures; unknown names count as later. */
function isBeforeThree(model: string | undefined): boolean {
  return /gemini-(?:[12][.-]|pro(?:-vision)?$)/.test(model ?? '');
}

function turn(body: JsonObject, model: string): Turn {
  if (body['candidates'] === undefined && asObject(body['error']) !== undefined)
    throw apiError(body['error']);
  const candidate = asObjects(body['candidates'])[0] ?? {};
  const parts = asObjects(asObject(candidate['content'])?.['parts']).reduce<JsonObject[]>(addPart, []);
  const made = ownCalls(parts);
  const calls = readCalls(
    made.map((part) => {
      const { id, name, args } = asObject(part['functionCall']) ?? {};
      return { id, name, arguments: args };
    }),
    asText(body['responseId']),
  );
  const callOf = new Map(made.map((part, at) => [part, calls[at]]));
  const echoed = parts.map((part): JsonObject => {
    const call = callOf.get(part);
    if (call === undefined) return part;
    const { id: _id, ...given } = asObject(part['functionCall']) ?? {};
    const functionCall = {
      ...(isMinted(call.id) ? {} : { id: call.id }),
      ...given,
      args: readArguments(given['args']).arguments,
    };
    return { ...part, functionCall };
  });
  const reported = asText(body['modelVersion']);
  return {
    message: {
      role: 'assistant',
      text: parts.map((part) => (part['thought'] === true ? '' : asText(part['text']))).join(''),
      calls,
      echo: {
        dialect: 'gemini',
        model: reported || model,
        items: echoed.length === 0 ? [] : [{ role: 'model', parts: echoed }],
      },
    },
    ...stopOf(body, candidate, calls.length > 0),
    usage: usageOf(asObject(body['usageMetadata']) ?? {}),
    ...(reported === '' ? {} : { model: reported }),
  };
}

/** Joins the pieces of a text; a part with a signature or anything else of its own stays as it is. */
function addPart(parts: JsonObject[], part: JsonObject): JsonObject[] {
  const plain = (one: JsonObject): boolean =>
    typeof one['text'] === 'string' &&
    Object.keys(one).every((member) => member === 'text' || member === 'thought');
  const last = parts.at(-1);
  if (
    last !== undefined &&
    plain(last) &&
    plain(part) &&
    (last['thought'] ?? false) === (part['thought'] ?? false)
  ) {
    return [...parts.slice(0, -1), { ...last, text: asText(last['text']) + asText(part['text']) }];
  }
  return plain(part) && part['text'] === '' ? parts : [...parts, part];
}

/** Calls that Google has run itself stand in the same content together with their answer. */
function ownCalls(parts: readonly JsonObject[]): JsonObject[] {
  const answers = parts.flatMap((part) => asObjects([part['functionResponse']]));
  return parts.filter((part) => {
    const call = asObject(part['functionCall']);
    if (call === undefined) return false;
    const at = answers.findIndex(({ id, name }) =>
      id === undefined ? name === call['name'] : id === call['id'],
    );
    if (at !== -1) answers.splice(at, 1);
    return at === -1;
  });
}

function stopOf(
  body: JsonObject,
  candidate: JsonObject,
  hasCalls: boolean,
): Pick<Turn, 'stop' | 'detail' | 'repair'> {
  const blocked = asText(asObject(body['promptFeedback'])?.['blockReason']);
  if (blocked !== '') return { stop: 'content-filter', detail: `the prompt was blocked: ${blocked}` };
  const reason = asText(candidate['finishReason']);
  const message = asText(candidate['finishMessage']);
  const detail = message === '' ? reason : `${reason}: ${message}`;
  const known = stops[reason];
  if (known === 'complete') return { stop: hasCalls ? 'calls' : 'complete' };
  if (known === 'max-tokens') return { stop: 'max-tokens' };
  const repair = repairs[reason];
  return {
    stop: known ?? 'failed',
    detail: detail || 'the answer has no finish reason',
    ...(repair === undefined ? {} : { repair }),
  };
}

function usageOf(usage: JsonObject): Usage {
  const reasoning = asNumber(usage['thoughtsTokenCount']);
  return {
    input: asNumber(usage['promptTokenCount']) + asNumber(usage['toolUsePromptTokenCount']),
    // The API counts thoughts apart from the rest of the output.
    output: asNumber(usage['candidatesTokenCount']) + reasoning,
    cacheRead: asNumber(usage['cachedContentTokenCount']),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

function reader(model: string): TurnReader {
  let body: JsonObject = {};
  let candidate: JsonObject = {};
  let parts: JsonObject[] = [];
  const ids = new Set<string>();

  const deltasOf = (part: JsonObject): TurnDelta[] => {
    const text = asText(part['text']);
    if (text !== '') return [{ type: part['thought'] === true ? 'reasoning' : 'text', delta: text }];
    const call = asObject(part['functionCall']);
    if (call === undefined) return [];
    const id = callId(call['id'], ids.size, asText(body['responseId']), ids);
    ids.add(id);
    return [{ type: 'call', id, name: asText(call['name']) }];
  };

  return {
    push(event: JsonObject) {
      if (event['error'] !== undefined) throw apiError(event['error']);
      const { candidates, ...others } = event;
      body = { ...body, ...others };
      const { content, ...facts } = asObjects(candidates)[0] ?? {};
      candidate = { ...candidate, ...facts };
      const fresh = asObjects(asObject(content)?.['parts']);
      parts = fresh.reduce(addPart, parts);
      return fresh.flatMap(deltasOf);
    },
    end() {
      const blocked = asObject(body['promptFeedback'])?.['blockReason'];
      if (candidate['finishReason'] === undefined && blocked === undefined) throw endedEarly();
      return turn({ ...body, candidates: [{ ...candidate, content: { role: 'model', parts } }] }, model);
    },
  };
}

function placeInResult(model: string | undefined): (media: Media) => Place {
  return (media) => {
    if (placeInMessage(media) === 'nowhere') return 'nowhere';
    const mixed = media.type === 'image' || media.mimeType === 'application/pdf';
    return mixed && !isBeforeThree(model) ? 'inside' : 'after';
  };
}

function placeInMessage({ mimeType, data }: Media): Place {
  const known =
    /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/(?:x-)?(?:wav|mpeg|mp3|aiff|aac|ogg|flac)|video\/(?:mp4|mpeg|webm|quicktime)|application\/pdf)$/;
  return known.test(mimeType) && data.length <= mostMedia ? 'inside' : 'nowhere';
}

function partOf(piece: Piece): JsonObject {
  return piece.type === 'text'
    ? { text: piece.text }
    : { inlineData: { mimeType: piece.mimeType, data: piece.data } };
}

/** As many responses as calls and in call order, then the media that responses may not hold. */
function resultParts(
  results: readonly CallResult[],
  options: ResultOptions | undefined,
  losses: string[],
): JsonObject[] {
  const after: JsonObject[] = [];
  const responses = results.map((one): JsonObject => {
    const read = readResult(one, { place: placeInResult(options?.model) }, options);
    losses.push(...read.losses);
    for (const media of read.after) after.push({ text: captionOf(media, one) }, partOf(media));
    const said = read.structured ?? joinedText(read.inside);
    const media = read.inside.filter(({ type }) => type !== 'text').map(partOf);
    const response = read.isError ? { error: said } : said === '' ? {} : { output: said };
    return {
      functionResponse: {
        ...(isMinted(one.call.id) ? {} : { id: one.call.id }),
        name: one.call.name,
        response,
        ...(media.length === 0 ? {} : { parts: media }),
      },
    };
  });
  return [...responses, ...after];
}

function userParts(content: string | ContentBlock[], losses: string[]): JsonObject[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const read = readBlocks(blocks, { place: placeInMessage }, () => undefined);
  losses.push(...read.losses.map((loss) => `user message: ${loss}`));
  return read.inside.map(partOf);
}

function contents(request: TurnRequest, options: ResultOptions, losses: string[]): JsonObject[] {
  return conversation(request, 'gemini', losses).flatMap((step): JsonObject[] => {
    if (step.role === 'assistant' && step.echo !== undefined)
      return isBeforeThree(request.model) ? step.echo : step.echo.map(signed);
    const parts =
      step.role === 'user'
        ? userParts(step.content, losses)
        : step.role === 'tool'
          ? resultParts(step.results, options, losses)
          : [
              ...(step.text === '' ? [] : [{ text: step.text }]),
              ...step.calls.map(({ id, name, arguments: args }): JsonObject => ({
                functionCall: { ...(isMinted(id) ? {} : { id }), name, args },
              })),
            ];
    if (parts.length === 0) return [];
    if (step.role !== 'assistant') return [{ role: 'user', parts }];
    const content = { role: 'model', parts };
    return [isBeforeThree(request.model) ? content : signed(content)];
  });
}

/** The first call of a content has a signature; one that an older or another provider's model made gets one for form. */
function signed(content: JsonObject): JsonObject {
  const parts = asObjects(content['parts']);
  const at = parts.findIndex((part) => part['functionCall'] !== undefined);
  const first = parts[at];
  if (first === undefined || first['thoughtSignature'] !== undefined) return content;
  return { ...content, parts: parts.with(at, { ...first, thoughtSignature: foreignSignature }) };
}

function callingConfig(request: TurnRequest, losses: string[]): JsonObject | undefined {
  if (request.parallel === false && request.tools.tools.length > 0) {
    losses.push('parallel: the API cannot be kept from several calls at once');
  }
  const want = wanted(request, losses);
  if (want === undefined) return undefined;
  const modes = { auto: 'AUTO', required: 'ANY', none: 'NONE', validated: 'VALIDATED' };
  if (want.only === undefined) return { mode: modes[want.mode] };
  // A subset goes with ANY and VALIDATED only; the second leaves the model free to answer with text.
  return { mode: want.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: want.only };
}
