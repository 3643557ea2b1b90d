// One way to call a tool, in a process of its own: `contender.mjs <who> <target>`. Over its IPC channel it is told what to
// run, and answers with what that took: `{ inFlight, milliseconds }` for small calls, `{ large, times }` for large results.
import process from 'node:process';
import { LARGE } from './large-results.mjs';
import { rawHttp, rawStdio } from './raw.mjs';

const { who, era, command, args, url } = JSON.parse(process.argv[2]);
/** A hundred bytes with what tool output has in it. */
const TEXT =
  'The quick brown fox "jumps" over the lazy dog.\nPack my box with five dozen liquor jugs, said Zoë: ok';
const info = { name: 'bench', version: '1.0.0' };
const transport =
  url === undefined ? { type: 'stdio', command, args, env: {} } : { type: 'http', url, headers: {} };

const contenders = {
  raw: () => (url === undefined ? rawStdio(command, args, era) : rawHttp(url, era)),

  async sdk() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(
      url === undefined
        ? new StdioClientTransport({ command, args, stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(url)),
    );
    await client.listTools();
    return { call: (name, args) => client.callTool({ name, arguments: args }), close: () => client.close() };
  },

  async server() {
    const { openServer } = await import('../../dist/servers/index.js');
    const server = openServer({ label: 'up', transport, era }, { clientInfo: info, capabilities: {} });
    await server.ready();
    await server.listTools();
    return { call: (name, args) => server.callTool(name, args), close: () => server.close() };
  },

  async host() {
    const { openHost } = await import('../../dist/index.js');
    const entry = url === undefined ? { command, args, era } : { type: 'http', url, era };
    const host = await openHost({ policy: 'allow', mcpServers: { up: entry } });
    const call = async (name, args) => {
      const { result, status, error } = await host.call({ name: `up__${name}`, arguments: args });
      if (status !== 'done') throw error;
      return result;
    };
    return { call, close: () => host.close() };
  },
};

const { call, close } = await contenders[who]();

/** Small calls, so many at a time, for so long and at least so many in all. Milliseconds; CPU of this process alone. */
async function small({ inFlight, milliseconds, least = 0 }) {
  const latencies = [];
  const cpu = process.cpuUsage();
  const started = performance.now();
  const end = started + milliseconds;
  const loop = async () => {
    for (let now = performance.now(); now < end || latencies.length < least;) {
      const { content } = await call('echo', { text: TEXT });
      if (content[0].text !== TEXT) throw new Error('the answer is wrong');
      const then = performance.now();
      latencies.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const took = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  const calls = latencies.length;
  return { perSecond: (calls / took) * 1000, p50: median(latencies), cpu: (user + system) / 1000 / calls };
}

/** A large result from the call to the parsed answer, and the parsing of the same bytes alone, in turns. Milliseconds. */
async function large({ large: kind, times }) {
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{${LARGE[kind]}}}`);
  const whole = [];
  const parsing = [];
  for (let time = 0; time < times; time += 1) {
    const started = performance.now();
    const { content } = await call('large', { kind });
    const called = performance.now();
    const parsed = JSON.parse(bytes.toString('utf8'));
    parsing.push(performance.now() - called);
    whole.push(called - started);
    const member = kind === 'image' ? 'data' : 'text';
    if (content[0][member] !== parsed.result.content[0][member]) throw new Error('the answer is wrong');
  }
  return { whole: median(whole), parsing: median(parsing) };
}

function median(values) {
  const sorted = Float64Array.from(values).sort();
  return sorted[sorted.length >> 1];
}

// Whoever runs it has gone, or wants it to go.
process.on('disconnect', () => process.exit());
process.on('message', async (job) => {
  if (job === 'close') {
    await close();
    process.disconnect();
  } else process.send(await (job.large === undefined ? small(job) : large(job)));
});
process.send('ready');
