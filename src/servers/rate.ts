/** At most `perSecond` things a second (for each of a number of sources), counted in whole seconds; what is over the rate is counted, not kept. */
export class RateLimit {
  dropped = 0;
  readonly #perSecond: number;
  #second = 0;
  #count = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** True when one more may pass now. `now` in milliseconds. */
  allows(now: number, sources = 1): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count <= this.#perSecond * sources) return true;
    this.dropped += 1;
    return false;
  }
}
