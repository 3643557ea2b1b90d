import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createPrinter } from '../../src/cli/print.ts';
import { watchStop } from '../../src/cli/stop.ts';

function processLike() {
  const exits: number[] = [];
  let err = '';
  const emitter = Object.assign(new EventEmitter(), {
    stdout: new EventEmitter(),
    stderr: new EventEmitter(),
    exit: (code: number): never => exits.push(code) as never,
  });
  const print = createPrinter({ write: () => true }, { write: (text) => (err += text) }, {});
  return { emitter, exits, err: () => err, stop: watchStop(emitter, print) };
}

describe('an early end', () => {
  it('cancels at the first signal, says so, and leaves at the second', () => {
    const { emitter, exits, err, stop } = processLike();
    emitter.emit('SIGINT');
    expect([stop.signal.aborted, stop.code(), exits]).toEqual([true, 130, []]);
    expect(err()).toBe('Canceling. Press Ctrl-C again to leave at once.\n');
    emitter.emit('SIGINT');
    expect(exits).toEqual([130]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('is asked for by %s too', (name, code) => {
    const { emitter, stop } = processLike();
    emitter.emit(name);
    expect([stop.signal.aborted, stop.code()]).toEqual([true, code]);
  });

  it('is quiet when the reader of stdout left', () => {
    const { emitter, err, stop } = processLike();
    emitter.stdout.emit('error', Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
    expect([stop.signal.aborted, stop.code(), err()]).toEqual([true, 0, '']);
  });

  it('says so once, and fails, when stdout cannot be written to', () => {
    const { emitter, err, stop } = processLike();
    for (let count = 0; count < 2; count += 1) emitter.stdout.emit('error', new Error('disk full'));
    expect([stop.signal.aborted, stop.code()]).toEqual([true, 1]);
    expect(err()).toBe('error the result cannot be written: disk full\n');
  });
});
