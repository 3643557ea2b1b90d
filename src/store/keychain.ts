/** The operating system's keychain, where there is one and it answers. Loaded only when a secret is looked for. */
import type * as Driver from '@napi-rs/keyring';
import { createRequire } from 'node:module';
import { messageOf } from '../errors.ts';

export interface Keychain {
  /** Undefined for a name that it does not have. Every method throws when it does not answer. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): boolean;
  names(): string[];
}

const SERVICE = 'midspan';
/** On Linux without a secret service the driver would take the kernel's keys, which are gone after a restart. */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

/** The keychain, or why there is none. */
export function systemKeychain(): Keychain | { missing: string } {
  let driver: typeof Driver;
  try {
    driver = createRequire(import.meta.url)('@napi-rs/keyring') as typeof driver;
  } catch {
    return { missing: 'the optional package @napi-rs/keyring is not installed' };
  }
  const { Entry, findCredentials } = driver;
  const entry = (name: string): InstanceType<typeof Entry> => new Entry(SERVICE, name, OPTIONS);
  const keychain: Keychain = {
    get: (name) => entry(name).getPassword() ?? undefined,
    set: (name, value) => entry(name).setPassword(value),
    delete: (name) => entry(name).deletePassword(),
    names: () => findCredentials(SERVICE).map(({ account }) => account),
  };
  try {
    keychain.names();
    return keychain;
  } catch (error) {
    return { missing: `the keychain does not answer: ${messageOf(error)}` };
  }
}
