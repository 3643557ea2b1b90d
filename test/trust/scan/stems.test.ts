import { describe, expect, it } from 'vitest';
import { stemsOf } from '../../../src/trust/scan/stems.ts';

const told = (source: string): string[][] => stemsOf(source).map((set) => [...set].sort());

describe('the stems that an expression needs', () => {
  it('are the beginnings of its words, one set for each word', () => {
    expect(told('\\b(?:ignor(?:e|es)|drop) rules?\\b')).toEqual([['rule'], ['drop', 'igno']]);
  });
  it('are whole words where these are short', () => {
    expect(told("\\bus(?:e|es)\\b|\\bdon'?t\\b")).toEqual([['don', 'dont', 'use', 'uses']]);
  });
  it('are not claimed where any word may stand, or none need', () => {
    expect(told('\\b\\w+\\b')).toEqual([]);
    expect(told('(?:\\bnever\\b)?')).toEqual([]);
    expect(told('\\bnever\\b|\\b\\w+\\b')).toEqual([]);
    expect(told('tail\\b')).toEqual([]);
  });
});
