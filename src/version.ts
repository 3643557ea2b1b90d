/** The version of this package, for `--version` and for what servers are told of us. A test compares it with package.json. */
export const VERSION = '0.1.0';
