// The server that the transparency matrix stands on: everything that the conformance suite asks of a server, in either
// era, over either transport. `node main.mjs --era legacy|modern --transport stdio|http [--port N]`
import { parseArgs } from 'node:util';
import { createFeatures } from './features.mjs';
import { listen } from './http.mjs';
import { createLegacyHttp } from './legacy-http.mjs';
import { createModernHttp } from './modern-http.mjs';
import { serveStdio } from './stdio.mjs';

const { era, transport, port } = parseArgs({
  options: {
    era: { type: 'string' },
    transport: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
}).values;

if (!['legacy', 'modern'].includes(era) || !['stdio', 'http'].includes(transport)) {
  console.error('usage: main.mjs --era legacy|modern --transport stdio|http [--port N]');
  process.exit(2);
}

const features = createFeatures();
if (transport === 'stdio') {
  serveStdio(era, features);
} else {
  const endpoint = era === 'legacy' ? createLegacyHttp(features) : createModernHttp(features);
  console.log(await listen(endpoint, Number(port)));
}
