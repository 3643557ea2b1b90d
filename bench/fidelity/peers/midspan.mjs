import { readFileSync } from 'node:fs';
import { openHost } from '../../../dist/index.js';
import { dialectOf } from '../../../dist/dialects/index.js';
import { apiModel } from '../../../dist/models/api.js';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

const column = (api) => ({
  peer: 'Midspan',
  packages: { midspan: version },
  api,
  /** The host's own tool, beside those of the servers. */
  own: ['read_result'],
  async run({ servers, access, model, strict, signal }) {
    const host = await openHost(
      {
        policy: 'allow',
        mcpServers: Object.fromEntries(servers.map(({ label, url }) => [label, { type: 'http', url }])),
      },
      { strict: strict ? ['*'] : [] },
    );
    try {
      const going = host.run({
        model: apiModel({
          env: {},
          name: `${api}:${model}`,
          model,
          dialect: dialectOf(api),
          url: access.url,
          headers: access.headers,
          key: access.key,
          signIn: '',
        }),
        messages: 'Go on.',
        limits: { turns: 4 },
        signal,
      });
      const losses = [];
      for await (const event of going) if (event.type === 'warning') losses.push(event.message);
      const { text, reason, detail } = await going.result;
      if (reason !== 'complete') throw new Error(`${reason}: ${detail ?? ''}`);
      return { text, losses };
    } finally {
      await host.close();
    }
  },
});

export const columns = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'gemini-interactions'].map(
  column,
);
