// Runs the official conformance suite, client side and server side, at both revisions.
// `node run.mjs [client|server] [--direct] [--cell <label>] [--scenario <name>]`
import { parseArgs } from 'node:util';
import { runClientSide } from './client-side.mjs';
import { runMatrix } from './matrix.mjs';
import { install } from './suite.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { direct: { type: 'boolean' }, cell: { type: 'string' }, scenario: { type: 'string' } },
});
const [side] = positionals;

install();
const isRight = [];
if (side !== 'server') isRight.push(await runClientSide());
if (side !== 'client') isRight.push(await runMatrix(values));
process.exitCode = isRight.every(Boolean) ? 0 : 1;
