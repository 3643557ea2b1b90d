// A program with a host: opens the configuration of its second argument, says when all servers are ready, then ends as the
// first argument says, or lives until it is killed.
import { openHost } from '../../dist/index.js';

const [ending, configuration] = process.argv.slice(2);
const host = await openHost(JSON.parse(configuration));
const states = host.servers().map(({ state }) => state);
process.stdout.write(`${states.join()}\n`);

const endings = {
  wait: () => setInterval(() => {}, 1000),
  exit: () => process.exit(0),
  throw: () =>
    setImmediate(() => {
      throw new Error('the program breaks');
    }),
  reject: () => void Promise.reject(new Error('the program breaks')),
};
endings[ending]();
