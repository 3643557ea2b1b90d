/** The lock, usable alone: what was approved of each server, in full text, and what has changed since. */
export { admitting, type AdmittingOptions } from './admitting.ts';
export { type Approved, approveDigest, openFindings, settlePin, surfaceOf } from './approval.ts';
export { compare, type CompareOptions, worstOf } from './compare.ts';
export { itemDigest } from './digest.ts';
export { identityOf } from './identity.ts';
export type {
  Admission,
  AdmittedItems,
  Admitting,
  Change,
  Digest,
  Effect,
  Identity,
  ItemPin,
  Lock,
  OtherList,
  Profile,
  ServerPin,
} from './lock.ts';
export { lockText, parseLock, readLock, type ReadOptions, writeLock } from './lock-file.ts';
export { pinItem, pinServer } from './pin.ts';
export { parseToolPin, sameSurface, type ToolPinEntry, toolPinText } from './toolpin.ts';
