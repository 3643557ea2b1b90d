/**
 * How large a definition may be (S04), and from where a person is told (S11). A breach withholds the item. What the wire
 * and the lists may carry is bounded in mcp/.
 */
import { DEFINITION_DEPTH_MAX, DEFINITION_NODES_MAX } from '../../mcp/protocol-limits.ts';
import { DESCRIPTION_MAX, INSTRUCTIONS_MAX, ITEM_MAX } from '../../mcp/protocol-limits.ts';
import { MAX_EXPANSION } from '../../schema/limits.ts';

export const LIMITS = {
  /** JSON characters of one definition. */
  definition: ITEM_MAX,
  /** Characters. */
  description: DESCRIPTION_MAX,
  instructions: INSTRUCTIONS_MAX,
  /** Nesting, and values in one definition. */
  depth: DEFINITION_DEPTH_MAX,
  nodes: DEFINITION_NODES_MAX,
  /** Schema nodes when every reference is written out. */
  expansion: MAX_EXPANSION,
} as const;

/** Large, but in use: from here on a note tells of the cost. */
export const NOTED = {
  definition: 16 * 1024,
  description: 8 * 1024,
  instructions: 4 * 1024,
  /** Estimated tokens of all of a server's tools. */
  tokens: 64 * 1024,
} as const;
