// Client scenarios: the suite plays servers, and client.mjs drives our library against them.
import { join } from 'node:path';
import { HERE, REVISIONS, failuresOf, runSuite } from './suite.mjs';

/** Every scenario of signing in: it is not built yet, and each says so below as an expected failure. */
const expectedToFail = (scenario) => scenario.startsWith('auth/');
/** Milliseconds per scenario. The suite starts them all at once, on however few cores. */
const TIMEOUT = '120000';

/**
 * Prints one line per scenario. A failure is a scenario that fails unexpectedly, an expected failure that passes, and a
 * revision of which fewer scenarios ran than it requires.
 */
export async function runClientSide() {
  let passed = 0;
  let failed = 0;
  for (const [revision, { client: required }] of Object.entries(REVISIONS)) {
    // The client runs on the Node that runs this file, not on the one of the suite.
    const command = `${process.execPath} ${join(HERE, 'client.mjs')}`;
    const results = await runSuite('client', [
      '--command',
      command,
      '--requirements',
      revision,
      '--timeout',
      TIMEOUT,
    ]);
    console.log(`\nClient scenarios of ${revision}`);
    for (const result of results) {
      const { scenario } = result;
      const failures = failuresOf(result);
      const isExpected = expectedToFail(scenario);
      const ok = failures.length === 0;
      console.log(`  ${ok ? 'pass' : isExpected ? 'expected failure' : 'FAIL'}  ${scenario}`);
      if (!ok && !isExpected) for (const failure of failures) console.log(`        ${failure}`);
      if (ok && isExpected) console.log('        is expected to fail: take it off the list');
      if (ok === isExpected) failed += 1;
      else passed += 1;
    }
    if (results.length < required) {
      failed += 1;
      console.log(`  FAIL  only ${results.length} of ${required} required scenarios ran`);
    }
  }
  console.log(`\nClient side: ${passed} passed, ${failed} failed`);
  return failed === 0;
}
