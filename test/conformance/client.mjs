// The client that the official suite drives, on the public library: `node client.mjs <server url>`.
// The suite names the scenario and the revision in the environment.
import { openHost } from '../../dist/index.js';

const [url] = process.argv.slice(2);
const {
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
  MCP_CONFORMANCE_CONTEXT,
} = process.env;
const context = MCP_CONFORMANCE_CONTEXT === undefined ? {} : JSON.parse(MCP_CONFORMANCE_CONTEXT);

/** Accepts every form and leaves every field open, as the scenarios about defaults want; `confirmed` is what the others ask for. */
const asks = {
  async ask({ kind, schema }) {
    const content = kind === 'form' && schema.properties?.confirmed !== undefined ? { confirmed: true } : {};
    return { action: 'accept', content };
  },
};

const host = await openHost(
  {
    policy: 'allow',
    mcpServers: {
      suite: { url, timeouts: { start: 100_000 }, ...(version !== undefined && { era: version }) },
    },
  },
  // The suite starts all its clients at once: on a busy machine that takes its time.
  { asks, startWithin: 100_000, onEvent: (event) => console.error(JSON.stringify(event)) },
);

const call = async (tool, args) => {
  const outcome = await host.call({ label: 'suite', tool, arguments: args });
  console.error(`${tool}: ${outcome.status} ${JSON.stringify(outcome.result).slice(0, 500)}`);
  return outcome;
};

const tools = () => host.catalog().entries;

const scenarios = {
  'json-schema-ref-no-deref': async () => {},
  'request-metadata': async () => {},
  'json-schema-2020-12-preservation': async () => {
    const focal = tools().find(({ tool }) => tool === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: focal.definition.inputSchema });
  },
  'elicitation-sep1034-client-defaults': () => call('test_client_elicitation_defaults', {}),
  'sep-2322-client-request-state': async () => {
    // The unrelated call runs while the first waits between its rounds: state may not leak from one to the other.
    await Promise.all([call('test_mrtr_echo_state', {}), call('test_mrtr_unrelated', {})]);
    await call('test_mrtr_no_state', {});
    await call('test_mrtr_no_result_type', {});
  },
};

const everyTool = async () => {
  if (context.toolCalls !== undefined) {
    for (const { name, arguments: args } of context.toolCalls) await call(name, args);
    return;
  }
  for (const { tool, definition } of tools()) await call(tool, argumentsFor(definition.inputSchema));
};

/** Arguments that fit the plain schemas of the suite. */
function argumentsFor({ properties = {}, required = Object.keys(properties) }) {
  const sample = { string: 'x', integer: 2, number: 2, boolean: true, array: [], object: {} };
  return Object.fromEntries(required.map((name) => [name, sample[properties[name]?.type] ?? 'x']));
}

try {
  const [status] = host.servers();
  if (status.state !== 'ready') throw new Error(`${status.state}: ${status.error?.message}`);
  await (scenarios[scenario] ?? everyTool)();
} finally {
  await host.close();
}
