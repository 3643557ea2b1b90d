import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments, readArguments } from '../../src/cli/arguments.ts';
import type { JsonObject } from '../../src/types.ts';

const files = async (path: string): Promise<string> => {
  if (path !== 'a.txt') throw new Error('no such file');
  return 'text of a\n';
};
const read = (words: string[], properties: JsonObject, more: JsonObject = {}, start: JsonObject = {}) =>
  readArguments(words, { type: 'object', properties, ...more }, start, files);

describe('key=value arguments', () => {
  it.each<[string, JsonObject, unknown]>([
    ['x=1', { type: 'string' }, '1'],
    ['x=true', { type: 'string' }, 'true'],
    ['x={"a":1}', { type: 'string' }, '{"a":1}'],
    ['x=', { type: 'string' }, ''],
    ['x=a=b', { type: 'string' }, 'a=b'],
    ['x=1.5', { type: 'number' }, 1.5],
    ['x=-3', { type: 'integer' }, -3],
    ['x=false', { type: 'boolean' }, false],
    ['x=null', { type: ['string', 'null'] }, null],
    ['x=5', { type: ['string', 'integer'] }, 5],
    ['x=five', { type: ['string', 'integer'] }, 'five'],
    ['x={"a":[1]}', { type: 'object' }, { a: [1] }],
    ['x=[1,2]', { type: 'array', items: { type: 'number' } }, [1, 2]],
    ['x=7', { type: 'array', items: { type: 'number' } }, [7]],
    ['x=7', { type: 'array', items: { type: 'string' } }, ['7']],
    ['x=2', { enum: [1, 2] }, 2],
    ['x=b', { enum: ['a', 'b'] }, 'b'],
    ['x=2', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 2],
    ['x=2', { $ref: '#/$defs/count' }, 2],
    ['x=2', {}, 2],
    ['x="2"', {}, '"2"'],
    ['x=plain', {}, 'plain'],
    ['x=@a.txt', { type: 'string' }, 'text of a\n'],
    ['x=@@a.txt', { type: 'string' }, '@a.txt'],
  ])('reads %s for %j as %j', async (word, property, wanted) => {
    expect(await read([word], { x: property }, { $defs: { count: { type: 'integer' } } })).toEqual({
      x: wanted,
    });
  });

  it('adds repeated keys to an array, and to nothing else', async () => {
    const list = { type: 'array', items: { type: 'string' } };
    expect(await read(['x=a', 'x=b', 'x=["c"]'], { x: list })).toEqual({ x: ['a', 'b', 'c'] });
    await expect(read(['x=a', 'x=b'], { x: { type: 'string' } })).rejects.toThrow('x is given twice');
  });

  it.each<[string, JsonObject, string]>([
    ['x=abc', { type: 'number' }, 'x must be a number. Write it as x=1'],
    ['x=1.5', { type: 'integer' }, 'x must be an integer'],
    ['x=yes', { type: 'boolean' }, 'x must be a boolean. Write x=true or x=false'],
    ['x=abc', { type: 'object' }, `x must be an object. Write it as JSON: x='{"a":1}'`],
    ['x=[1', { type: 'array' }, 'x must be an array'],
    [
      'x=@b.txt',
      { type: 'string' },
      'x: the file cannot be read: no such file. For the text itself write x=@@b.txt',
    ],
    ['x', {}, '"x" is not key=value'],
    ['=x', {}, '"=x" is not key=value'],
  ])('refuses %s for %j', async (word, property, message) => {
    await expect(read([word], { x: property })).rejects.toThrow(message);
  });

  it('names the argument that was probably meant, where no other is allowed', async () => {
    const closed = { additionalProperties: false };
    await expect(read(['pth=.'], { path: {} }, closed)).rejects.toThrow(
      'the tool takes no argument "pth"; did you mean "path"? It takes: path',
    );
    await expect(read(['z=.'], { path: {}, depth: {} }, closed)).rejects.toThrow('It takes: path, depth');
    expect(await read(['pth=.'], { path: {} })).toEqual({ pth: '.' });
  });

  it('keeps the arguments of --args beside them', async () => {
    expect(await read(['x=2'], { x: { type: 'number' } }, {}, { x: 1, y: 1 })).toEqual({ x: 2, y: 1 });
    expect(parseArguments('{"a":{"b":1}}')).toEqual({ a: { b: 1 } });
    expect(() => parseArguments('[1]')).toThrow('the arguments are not a JSON object');
    expect(() => parseArguments('{')).toThrow('the arguments are not JSON');
  });

  it('takes no key as the prototype of anything', async () => {
    const result = await read(['__proto__={"a":1}'], {});
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect((result as { a?: unknown }).a).toBeUndefined();
  });

  it('gives every text back as it is to a string', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('@')),
        async (text) => {
          expect(await read([`x=${text}`], { x: { type: 'string' } })).toEqual({ x: text });
        },
      ),
    );
  });

  it('ends for schemas that refer to themselves', async () => {
    expect(await read(['x=1'], { x: { $ref: '#/properties/x' } })).toEqual({ x: 1 });
  });
});
