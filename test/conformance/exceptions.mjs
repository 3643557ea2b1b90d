// Scenarios that cannot pass in a cell, each with its reason. One that passes is an error: take it off.

/** `{ scenario, cells, why }`; a cell is the label of a server in the gateway. */
export const EXCEPTIONS = [];
