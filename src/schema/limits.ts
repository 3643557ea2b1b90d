/** Bounds of everything here. A schema comes from a server and a value from a model: neither may stall the host. */

/** JSON nesting of a schema, and of a value that is checked against one. */
export const MAX_DEPTH = 64;
/** JSON values in one schema: objects, arrays and scalars alike. */
export const MAX_NODES = 20_000;
/** Schema nodes that may be written while references are expanded. */
export const MAX_EXPANSION = 10_000;
/** How often a recursive definition is written out where an API takes no recursion. */
export const MAX_RECURSION = 3;
/** Keywords and members looked at in one validation. */
export const MAX_STEPS = 300_000;
/** Characters of a regular expression, and states it may compile to. */
export const MAX_PATTERN = 4_000;
export const MAX_PATTERN_STATES = 2_000;
