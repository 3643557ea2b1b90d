/**
 * Estimated tokens of a text, without a tokenizer. English prose and compact JSON take close to 4.8 characters a token
 * in current vocabularies; other scripts take about one and a half characters.
 */
export function estimateTokens(text: string): number {
  let other = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) other++;
  return Math.ceil((text.length - other) / 4.8 + other / 1.5);
}
