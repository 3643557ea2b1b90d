// Runs one feature through one library against an emulated API, and judges by what was sent.
import { startFront } from './front.mjs';
import { afterCalls, toolsIn } from './seen.mjs';

const WITHIN = 20_000;

/**
 * Rules of the emulators that no document states as a refusal: keywords that a list of supported ones does not name, unions
 * at the root at Gemini, draft-07 idioms at OpenAI, and how many tools Responses takes.
 */
const UNCERTAIN = {
  anthropic: /^$/,
  'openai-responses': /is not valid in draft 2020-12|maximum length 128/,
  'openai-chat': /is not valid in draft 2020-12/,
  gemini: /json_schema': .*(?:is not supported|\$schema|draft 2020-12|enum of other|at the top level)/,
  'gemini-interactions': /': .*(?:is not supported|\$schema|draft 2020-12|enum of other|at the top level)/,
};

/** @returns {Promise<{ verdict: string, words?: string }>} verdict: kept, told, partly, lost, refused, uncertain, throws */
export async function measure(column, feature, upstream, api) {
  const { servers, calls } = upstream.serve(feature);
  const wantedIds = [];
  const served = (body) => toolsIn(body).filter(({ name }) => column.own?.includes(name) !== true);
  const emulator = await api.start((body, index) => {
    if (index > 0 || feature.noCall) return api.final;
    const made = callsOf(feature, served(body)).map((call, at) => ({ ...call, id: `${api.idPrefix}${at}` }));
    wantedIds.push(...made.map(({ id }) => id));
    return made.length === 0 ? api.final : { calls: made };
  });
  const front = await startFront(emulator, column.api);
  const signal = AbortSignal.timeout(WITHIN);
  let thrown;
  let outcome = {};
  try {
    outcome = await column.run({
      servers,
      access: {
        origin: front.url,
        url: front.url + api.path,
        headers: api.headers(emulator.key),
        key: emulator.key,
      },
      model: api.model,
      strict: feature.strict === true,
      signal,
    });
  } catch (error) {
    thrown = error;
  } finally {
    await front.close();
    await emulator.close();
  }
  const refused = front.requests.find(({ status }) => status >= 400);
  if (refused !== undefined) {
    const words = `${refused.status} ${refused.refusal}`;
    return { verdict: UNCERTAIN[column.api].test(words) ? 'uncertain' : 'refused', words: plain(words) };
  }
  if (thrown !== undefined) return { verdict: 'throws', words: plain(thrown.message) };
  const [first, second] = front.requests;
  if (first === undefined) return { verdict: 'lost', words: 'nothing is sent to the model' };
  const [verdict, words] = feature.judge(
    {
      api: column.api,
      tools: served(first.body),
      calls,
      losses: outcome.losses ?? [],
      after: { ...afterCalls(second?.body, column.api), wantedIds },
    },
    feature,
  );
  if (verdict === 'kept' && !outcome.text.includes('Finished.'))
    return { verdict: 'partly', words: 'the loop ends before the answer' };
  return { verdict, words };
}

/** The calls that a model makes which follows the definitions it was given. */
function callsOf(feature, tools) {
  if (feature.callName !== undefined) return [{ name: feature.callName, arguments: {} }];
  const called = feature.callAll ? tools : tools.slice(0, 1);
  return called.map(({ name, schema, strict }) => ({
    name,
    arguments: feature.rawArgs ?? asShown(feature.args, schema, strict === true),
  }));
}

/** Members under the names in the definition, by position; null for what strict asks for and the arguments do not have. */
function asShown(args, schema, strict) {
  const shown = Object.keys(schema.properties ?? {});
  const renamed = Object.entries(args).map(([name, value], at) => [
    shown.length === 0 || shown.includes(name) ? name : (shown[at] ?? name),
    value,
  ]);
  const missing = strict
    ? (schema.required ?? []).filter((name) => !renamed.some(([given]) => given === name))
    : [];
  return Object.fromEntries([...renamed, ...missing.map((name) => [name, null])]);
}

/** One line without what differs from run to run. */
function plain(text) {
  const line = String(text)
    .replaceAll(/127\.0\.0\.1:\d+/g, 'the API')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= 160 ? line : `${line.slice(0, 157)}...`;
}
