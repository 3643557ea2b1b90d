/** Which model is taken when none is named. Ports are those of the test's own servers, never the usual ones. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { MidspanError } from '../../src/errors.ts';
import { chooseModel, type ChooseModelOptions, DEFAULT_MODELS } from '../../src/models/index.ts';
import { LOCAL_SERVERS } from '../../src/models/local.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

const answering = (body: unknown): RequestListener => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text);
};
const modelList = (...ids: unknown[]): unknown => ({ object: 'list', data: ids.map((id) => ({ id })) });

/** A port on which nothing listens: it was free a moment ago. */
async function freePort(): Promise<number> {
  const port = await serve(() => undefined);
  await closers.pop()?.();
  return port;
}

/** Long enough for the slowest machine; only a server that never answers is waited for. */
const local = (...ports: number[]): Pick<ChooseModelOptions, 'local'> => ({
  local: { servers: ports.map((port, at) => ({ name: `server ${at + 1}`, port })), within: 20_000 },
});

const failure = (options: ChooseModelOptions): Promise<MidspanError> =>
  chooseModel(options).then(
    (chosen) => Promise.reject(new Error(`it took ${chosen?.model.name}`)),
    (error: MidspanError) => error,
  );

describe('the model that is taken when none is named', () => {
  const everything = {
    MIDSPAN_MODEL: 'openai:gpt-5.6',
    ANTHROPIC_API_KEY: 'a',
    OPENAI_API_KEY: 'o',
    GEMINI_API_KEY: 'g',
  };

  it.each([
    ['openai:gpt-5.6', 'MIDSPAN_MODEL is set', everything],
    [
      `anthropic:${DEFAULT_MODELS.anthropic}`,
      'ANTHROPIC_API_KEY is set',
      { ...everything, MIDSPAN_MODEL: '' },
    ],
    [
      `openai:${DEFAULT_MODELS.openai}`,
      'OPENAI_API_KEY is set',
      { OPENAI_API_KEY: 'o', GEMINI_API_KEY: 'g' },
    ],
    ['openai:gpt-6.2-sol', 'OPENAI_API_KEY is set', { OPENAI_API_KEY: 'o', OPENAI_MODEL: 'gpt-6.2-sol' }],
    [
      `gemini:${DEFAULT_MODELS.gemini}`,
      'GEMINI_API_KEY is set',
      { ANTHROPIC_API_KEY: ' ', GEMINI_API_KEY: 'g', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    ],
    [
      'openai-chat:mine',
      'OPENAI_BASE_URL and OPENAI_MODEL are set',
      { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'mine' },
    ],
    [
      'openai-chat:mine',
      'OPENAI_BASE_URL and OPENAI_MODEL are set',
      {
        OPENAI_API_KEY: 'o',
        OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
        OPENAI_MODEL: 'mine',
        GEMINI_API_KEY: 'g',
      },
    ],
  ])('is %s when %s', async (name, why, env) => {
    const chosen = await chooseModel({ env, ...local() });
    expect([chosen?.model.name, chosen?.why]).toEqual([name, why]);
  });

  it('is the first model that the server at the base URL lists and that holds a conversation', async () => {
    const asked: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      answering(modelList('nomic-embed-text:latest', 'qwen3:8b', 'llama3'))(request, response);
    });
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const byVariable = await chooseModel({
      env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'key-1' },
      ...local(),
    });
    expect(byVariable).toMatchObject({
      model: { name: 'openai-chat:qwen3:8b' },
      why: 'OPENAI_BASE_URL is set, and this is the first model there',
    });
    const byOption = await chooseModel({ env: { ANTHROPIC_API_KEY: 'a' }, baseUrl });
    expect(byOption?.model.name).toBe('openai-chat:qwen3:8b');
    expect(asked).toEqual(['GET /v1/models Bearer key-1', 'GET /v1/models undefined']);
  });

  it.each([
    ['unreachable', /cannot be reached/, undefined],
    ['model', /did not answer with a list of models/, { data: 'none' }],
    ['model', /did not answer with a JSON object/, '<h1>Hi</h1>'],
    ['model', /lists no model that holds a conversation/, { data: [] }],
  ])('is none when the server at the base URL is wrong (%s, %s)', async (code, words, body) => {
    const port = body === undefined ? await freePort() : await serve(answering(body));
    const error = await failure({ env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` } });
    expect(error).toMatchObject({ code, label: 'OPENAI_BASE_URL' });
    expect(error.message).toMatch(words);
  });

  it('is that of a local server when nothing is configured, the first in order, and the others are named', async () => {
    const [none, first, second] = [
      await freePort(),
      await serve(answering(modelList('a-model'))),
      await serve(answering(modelList('b-model'))),
    ];
    const chosen = await chooseModel({ env: {}, ...local(none, first, second) });
    expect(chosen).toMatchObject({
      model: { name: 'openai-chat:a-model' },
      why: `server 2 answers on port ${first}; not taken: server 3 on port ${second}`,
    });
  });

  it('passes over whatever answers on a port with anything but a list of models', async () => {
    const answers: unknown[] = [
      '<html>',
      '[]',
      'null',
      { data: {} },
      { data: [{ name: 'x' }] },
      modelList('fine', 7),
      modelList('has space'),
      modelList('x'.repeat(300)),
      modelList('esc\u001B[2J'),
      modelList(),
    ];
    const ports = await Promise.all([
      ...answers.map((body) => serve(answering(body))),
      serve((_, response) => response.writeHead(404).end('{"data":[{"id":"x"}]}')),
      serve((_, response) => response.writeHead(302, { location: '/v1/models' }).end()),
      serve((request) => request.socket.destroy()),
      serve((_, response) => {
        // more than is read of any list
        response.on('error', () => undefined);
        response.writeHead(200, { 'content-type': 'application/json' });
        const piece = ' '.repeat(1024 * 1024);
        const more = (): void => {
          while (!response.destroyed && response.write(piece)) {
            // until the reader has enough
          }
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }),
    ]);
    expect(await chooseModel({ env: {}, ...local(...ports) })).toBeUndefined();
    const good = await serve(answering(modelList('good')));
    expect((await chooseModel({ env: {}, ...local(...ports, good) }))?.model.name).toBe('openai-chat:good');
  });

  it('does not wait for a local server that never answers', async () => {
    const silent = await serve(() => undefined);
    const half = await serve((_, response) => response.writeHead(200).write('{"data":['));
    const servers = [silent, half].map((port) => ({ name: 'silent', port }));
    expect(await chooseModel({ env: {}, local: { servers, within: 50 } })).toBeUndefined();
  });

  it('is canceled while local servers are asked', async () => {
    const controller = new AbortController();
    const silent = await serve(() => controller.abort());
    expect(await failure({ env: {}, signal: controller.signal, ...local(silent) })).toMatchObject({
      code: 'cancelled',
    });
  });

  it('is looked for on the ports that MIDSPAN_LOCAL_PORTS names', async () => {
    const port = await serve(answering(modelList('m')));
    const chosen = await chooseModel({ env: { MIDSPAN_LOCAL_PORTS: ` ${port}, ` } });
    expect(chosen?.why).toBe(`a local server answers on port ${port}`);
    expect(await chooseModel({ env: { MIDSPAN_LOCAL_PORTS: '' } })).toBeUndefined();
    expect(await failure({ env: { MIDSPAN_LOCAL_PORTS: '80, x' } })).toMatchObject({
      code: 'usage',
      what: 'MIDSPAN_LOCAL_PORTS has "x", which is no port',
    });
  });

  it('knows the usual ports', () => {
    expect(LOCAL_SERVERS.map(({ name, port }) => `${name} ${port}`)).toEqual([
      'Ollama 11434',
      'LM Studio 1234',
      'vLLM 8000',
      'llama.cpp 8080',
    ]);
  });
});
