/** The resources of one server that somebody follows: counted by URI, whatever the connections that hear of them. */
import type { JsonObject } from '../types.ts';

/** Resources of one server that are followed at a time. */
export const FOLLOWED_MAX = 1_024;
/** Changes of one resource within this are told once. Milliseconds. */
const TOGETHER = 50;
/** How far up from a resource that changed a followed one is looked for. */
const LEVELS_MAX = 32;

export interface FollowedOptions {
  updated: (uri: string) => void;
  warning: (message: string) => void;
}

export class Followed {
  readonly #options: FollowedOptions;
  readonly #counts = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #updated = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FollowedOptions) {
    this.#options = options;
  }

  /** @returns what ends it. */
  follow(uri: string): () => void {
    const count = this.#counts.get(uri) ?? 0;
    if (count === 0 && this.#counts.size >= FOLLOWED_MAX) {
      this.#options.warning(`more than ${FOLLOWED_MAX} of its resources would be followed; the rest is not`);
      return () => undefined;
    }
    this.#counts.set(uri, count + 1);
    if (count === 0) this.#changed();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#counts.get(uri) ?? 1) - 1;
      if (left > 0) this.#counts.set(uri, left);
      else {
        this.#counts.delete(uri);
        this.#changed();
      }
    };
  }

  get size(): number {
    return this.#counts.size;
  }

  get uris(): string[] {
    return [...this.#counts.keys()];
  }

  has(uri: string): boolean {
    return this.#counts.has(uri);
  }

  /** Hears when the set of URIs is another one. */
  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `notifications/resources/updated`: it may name a part of what is followed. */
  updated({ uri }: JsonObject): void {
    if (typeof uri !== 'string') return;
    let followed: string | undefined = uri;
    for (let level = 0; followed !== undefined && level < LEVELS_MAX; level += 1) {
      if (this.#counts.has(followed)) return this.#tell([followed]);
      followed = followed.includes('/') ? followed.slice(0, followed.lastIndexOf('/')) : undefined;
    }
  }

  /** Changes may have gone unheard. */
  gap(): void {
    if (this.#counts.size > 0) this.#tell(this.uris);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #tell(uris: readonly string[]): void {
    for (const uri of uris) this.#updated.add(uri);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const updated = this.#updated;
      this.#updated = new Set();
      for (const uri of updated) if (this.#counts.has(uri)) this.#options.updated(uri);
    }, TOGETHER).unref();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
