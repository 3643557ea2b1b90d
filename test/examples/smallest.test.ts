import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

describe('the smallest example', () => {
  it('takes tools from list to results by the dialects alone, in both eras, and shows the methods on the wire', async () => {
    const { stdout } = await run(process.execPath, ['examples/smallest/smallest.mjs']);
    const calls = 'tools/call, '.repeat(6).slice(0, -2);
    expect(stdout).toContain(`legacy: initialize, notifications/initialized, tools/list, ${calls}\n`);
    expect(stdout).toContain(`modern: server/discover, tools/list, ${calls}\n`);
    expect(stdout).toContain(
      '{"name":"get_weather","description":"Current weather in a city","input_schema":{',
    );
    expect(stdout).toContain('{"type":"function","name":"get_weather",');
  });
});
