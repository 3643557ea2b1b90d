import { describe, expect, it } from 'vitest';
import { isExponential } from '../../src/schema/ambiguity.ts';

describe('expressions that make a backtracking engine take exponential time', () => {
  it.each([
    '^(a+)+$',
    '(a*)*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(a|a)*$',
    '(a|aa)+$',
    '^(\\w+\\s?)*$',
    '([a-zA-Z]+)*$',
    '(x+x+)+y',
    '^([0-9]+[0-9]*)*,$',
  ])('sees that %s does', (source) => {
    expect(isExponential(source)).toBe(true);
  });

  it.each([
    '^[^,]+(,[^,]+)*$',
    '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$',
    '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?)?$',
    '^(GET|POST|PUT)(,(GET|POST|PUT))*$',
    '^[a-z][a-z0-9-]*[a-z0-9]+$',
    '(ab)+c',
    '^(/[^/]+)+$',
  ])('sees that %s does not', (source) => {
    expect(isExponential(source)).toBe(false);
  });

  it('does not decide what has no automaton', () => {
    expect(isExponential('^(?=a)(b+)+$')).toBeUndefined();
    expect(isExponential('((a)\\1)+')).toBeUndefined();
    expect(isExponential('((a)+')).toBeUndefined();
  });

  it('ends soon for an expression made to be hard to decide', () => {
    expect(isExponential(`(${'(a?)'.repeat(40)})*`)).not.toBe(false);
    expect(isExponential(`(${'((((a?)?)?)?)?'.repeat(30)}b)*`)).not.toBe(false);
  });
});
