// Opens and closes a host so many times, and prints what is left after each cycle: `cycles.mjs <count> <configuration>`.
// Runs with --expose-gc.
import { readdirSync } from 'node:fs';
import { openHost } from '../../dist/index.js';

const [count, configuration] = process.argv.slice(2);
const cycles = [];
for (let cycle = 0; cycle < Number(count); cycle += 1) {
  const host = await openHost(JSON.parse(configuration));
  const ready = host.servers().filter(({ state }) => state === 'ready').length;
  const { status } = await host.call({ label: 'one', tool: 'greet', arguments: {} });
  await host.close();
  // Handles that were closed are let go of in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc();
  cycles.push({
    ready,
    status,
    heap: process.memoryUsage().heapUsed,
    files: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  });
}
process.stdout.write(JSON.stringify(cycles));
