import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import type { MidspanError } from '../../src/errors.ts';
import type { ChannelHandlers } from '../../src/servers/channel.ts';
import { stdioChannel } from '../../src/servers/stdio.ts';
import type { JsonObject } from '../../src/types.ts';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/channels/${name}`, import.meta.url));
}

/** Handlers that keep what they hear, in order. */
export class Recorder implements ChannelHandlers {
  readonly messages: JsonObject[] = [];
  readonly origins: (string | number | undefined)[] = [];
  readonly noises: string[] = [];
  readonly endings: MidspanError[] = [];
  message(message: JsonObject, origin: string | number | undefined): void {
    this.messages.push(message);
    this.origins.push(origin);
  }
  noise(text: string): void {
    this.noises.push(text);
  }
  closed(reason: MidspanError): void {
    this.endings.push(reason);
  }
  ending(): Promise<MidspanError> {
    return until(() => this.endings[0]);
  }
}

/** Waits for a condition to hold; its value. */
export function until<T>(condition: () => T | undefined | false, timeout = 90_000): Promise<T> {
  return vi.waitUntil(condition, { timeout, interval: 5 }) as Promise<T>;
}

/** A stdio channel to a fixture program; the arguments choose its behavior. */
export function peer(behavior: string, ...args: string[]) {
  return stdioChannel({
    label: 'peer',
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [fixture('peer.mjs'), behavior, ...args],
      env: {},
    },
  });
}

/** Living processes (no zombies) whose command line contains the mark. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        pid !== process.pid &&
        read(`/proc/${pid}/cmdline`).includes(mark) &&
        !/\) [ZX] /.test(read(`/proc/${pid}/stat`)),
    );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export async function failure(promise: Promise<unknown>): Promise<MidspanError> {
  try {
    await promise;
  } catch (error) {
    return error as MidspanError;
  }
  throw new Error('it should have failed');
}

export { sleep };
