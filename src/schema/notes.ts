/** What was changed, in words, in the order it was found: one line per kind of change with the places it touched. */
export interface Notes {
  /** `place` is where, as JSON pointer tokens; the root goes unnamed. */
  add(change: string, place?: readonly string[]): void;
  lines(): string[];
}

const MAX_PLACES = 5;
const MAX_LINES = 50;
const MAX_COUNTED = 1_000;

export function createNotes(): Notes {
  const places = new Map<string, Set<string>>();
  return {
    add(change, place = []) {
      let found = places.get(change);
      if (found === undefined) places.set(change, (found = new Set()));
      const name = found.size > MAX_COUNTED ? '' : placeName(place);
      if (name !== '') found.add(name);
    },
    lines() {
      const lines = [...places].map(([change, at]) => {
        if (at.size === 0) return change;
        const shown = [...at].slice(0, MAX_PLACES).map((place) => quoted(place, 80));
        return `${change}: ${shown.join(', ')}${at.size > MAX_PLACES ? ` and ${at.size - MAX_PLACES} more` : ''}`;
      });
      if (lines.length <= MAX_LINES) return lines;
      return [...lines.slice(0, MAX_LINES), `${lines.length - MAX_LINES} more kinds of change`];
    },
  };
}

/** A place in a schema as a person writes it: `/properties/a/items/properties/b` is `a[].b`. */
export function placeName(tokens: readonly string[]): string {
  let name = '';
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    const next = tokens[index + 1];
    if (token === 'properties' && next !== undefined) {
      name += `${name === '' ? '' : '.'}${next}`;
      index++;
    } else if (token === 'items') name += '[]';
    else if (token === 'additionalProperties') name += '.*';
    else if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(token) && next !== undefined) {
      if (token === 'prefixItems') name += `[${next}]`;
      index++;
    } else if (['$defs', 'definitions'].includes(token) && next !== undefined && index === 0) {
      name = next;
      index++;
    }
  }
  return name;
}

/** Server-controlled text inside backticks: one line, no control characters, bounded. */
export function quoted(text: string, limit = 60): string {
  return `\`${inline(text, limit).replaceAll('`', "'")}\``;
}

/** Text on one line, without control or formatting characters, cut at `limit`. */
export function inline(text: string, limit = 120): string {
  const cut = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
  return cut.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** A value as JSON, shortened. Never walks more of it than is shown. */
export function shown(value: unknown, limit = 60): string {
  let text: string;
  if (typeof value === 'string') text = JSON.stringify(value.slice(0, limit + 1));
  else if (Array.isArray(value) && value.length > 20) text = `an array of ${value.length} items`;
  else {
    try {
      text = JSON.stringify(value) ?? 'nothing';
    } catch {
      text = Array.isArray(value) ? 'an array' : 'an object';
    }
  }
  return inline(text, limit);
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
