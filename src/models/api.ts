/** What the models of all APIs have in common: encode by the dialect, stream over HTTP, read by the dialect. */
import type { Dialect, RemoteServer, Turn } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
import { isThisMachine } from '../proxy.ts';
import { streamEvents } from './http.ts';
import type { Model } from './model.ts';

export interface Api {
  /** The model's full name. */
  name: string;
  /** The model's name at its API. */
  model: string;
  dialect: Dialect;
  url: string;
  headers: Record<string, string>;
  key: string | undefined;
  /** What to do when the API does not know us. */
  signIn: string;
  /** Of which the proxy variables are used. */
  env: Access['env'];
}

export function apiModel({ name, model, dialect, url, headers, key, signIn, env }: Api): Model {
  const provider = new URL(url).origin;
  return {
    name,
    dialect,
    ...(dialect.connector !== undefined && { reach: isThisMachine(new URL(url)) ? 'local' : 'internet' }),
    async *stream({ results, ...request }, { signal, onLoss }) {
      const {
        body,
        losses,
        headers: more,
      } = dialect.request({ ...request, model, provider }, { ...results, model });
      for (const loss of losses) onLoss?.(loss);
      const reader = dialect.reader(model);
      try {
        for await (const event of streamEvents({
          model: name,
          url,
          headers: { ...headers, ...more },
          body,
          signal,
          env,
          key,
          credentials: credentialsOf(request.servers ?? []),
          signIn,
        })) {
          yield* reader.push(event);
        }
        return from(provider, reader.end());
      } catch (error) {
        throw named(error, name);
      }
    },
  };
}

/** What came from one provider is not sent to another, though it speaks the same dialect. */
function from(provider: string, turn: Turn): Turn {
  const { echo } = turn.message;
  return echo === undefined ? turn : { ...turn, message: { ...turn.message, echo: { ...echo, provider } } };
}

/** What the provider is given to sign in to servers, and must not say again. */
function credentialsOf(servers: readonly RemoteServer[]): string[] {
  return servers.flatMap(({ headers }) =>
    Object.entries(headers).flatMap(([name, value]) => {
      const words = value.split(/\s+/).filter((word) => word.length >= 8);
      const named = /auth|key|token|secret|cookie|session|password/i.test(name);
      return words.filter((word) => named || (word.length >= 16 && /\d/.test(word) && /[a-z]/i.test(word)));
    }),
  );
}

/** A dialect does not know which model it reads for. */
function named(error: unknown, label: string): unknown {
  if (!(error instanceof MidspanError) || error.label !== undefined) return error;
  const { code, what, next, cause, data } = error;
  return new MidspanError({ code, label, what, ...(next !== undefined && { next }), cause, data });
}

export interface Access {
  env: Readonly<Record<string, string | undefined>>;
  /** Instead of the API's own address, or the one in the environment. */
  baseUrl?: string;
}

/**
 * Key and address of an API, from what the caller gave and the environment.
 * Only the API's own address needs a key; a local or compatible server often has none.
 * @throws MidspanError `usage` when a key is missing or the address is not one.
 */
export function accessTo(
  name: string,
  { env, baseUrl }: Access,
  names: { keys: readonly string[]; baseUrl: string; standard: string },
): { key: string | undefined; base: string } {
  const key = names.keys
    .map((each) => env[each]?.trim())
    .find((value) => value !== undefined && value !== '');
  const given = baseUrl ?? (env[names.baseUrl]?.trim() || undefined);
  if (key === undefined && given === undefined) {
    throw new MidspanError({
      code: 'usage',
      label: name,
      what: `there is no key: ${names.keys.join(' or ')} is not set`,
      next: `Set ${names.keys[0]}, or give a base URL of a server that needs none (--base-url, ${names.baseUrl})`,
    });
  }
  const base = (given ?? names.standard).replace(/\/+$/, '');
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new MidspanError({
      code: 'usage',
      label: name,
      what: `${JSON.stringify(base)} is not an http(s) address`,
      next: 'Mend the base URL',
    });
  }
  return { key, base };
}
