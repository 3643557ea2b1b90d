const NOT_ASCII = /[^\0-\x7f]/g;

/**
 * Estimated tokens of a text, without a tokenizer. English prose and compact JSON take close to 4.8 characters a token
 * in current vocabularies; other scripts take about one and a half characters.
 */
export function estimateTokens(text: string): number {
  const other = text.match(NOT_ASCII)?.length ?? 0;
  return Math.ceil((text.length - other) / 4.8 + other / 1.5);
}
