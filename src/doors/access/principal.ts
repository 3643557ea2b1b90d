/** Who a request is from, once its key or token was checked. Everything that is kept is kept apart by principal. */
export interface Principal {
  /** Unique and stable: `local`, `key:<name>`, or `<issuer>#<subject>`. */
  id: string;
  /** For people and the record. */
  name: string;
  /** Which tools it may see and call, by the servers' own names. */
  allows(label: string, tool: string): boolean;
  /** Whether it may see anything of a server. */
  reaches(label: string): boolean;
  /** Principals with the same filter are shown the same lists. Empty: everything. */
  filter: string;
}
