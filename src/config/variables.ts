/**
 * `${NAME}` and `${NAME:-default}` in strings, `${secret:NAME}`, and the forms of other programs: `${env:NAME}`,
 * `${input:id}`, `${workspaceFolder}`. `$${` stands for a plain `${`. Defaults may hold variables themselves.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variables {
  env: Environment;
  /** Names that are not the environment's, such as `workspaceFolder`. */
  fixed: ReadonlyMap<string, string>;
  /** A stored secret; undefined where none has this name. */
  secret: SecretReader;
  /** The ids of `inputs`; undefined in formats that have none. */
  inputs: ReadonlySet<string> | undefined;
}

/** @throws MidspanError when the place of secrets cannot be read. */
export type SecretReader = (name: string) => string | undefined;

/** Never names a value, only variables. */
export type Expanded = { text: string } | { problem: string };

export function expand(text: string, variables: Variables): Expanded {
  let result = '';
  let at = 0;
  for (;;) {
    const dollar = text.indexOf('${', at);
    if (dollar === -1) return { text: result + text.slice(at) };
    if (dollar > at && text[dollar - 1] === '$') {
      result += `${text.slice(at, dollar - 1)}\${`;
      at = dollar + 2;
      continue;
    }
    const end = closingBrace(text, dollar + 2);
    if (end === -1) return { problem: 'a `${` has no closing brace (`$${` stands for a plain one)' };
    const value = resolve(text.slice(dollar + 2, end), variables);
    if ('problem' in value) return value;
    result += text.slice(at, dollar) + value.text;
    at = end + 1;
  }
}

/** The environment variable that answers `${input:id}`. */
export const inputVariable = (id: string): string =>
  `MIDSPAN_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

const FORM = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

function resolve(expression: string, variables: Variables): Expanded {
  const fixed = variables.fixed.get(expression);
  if (fixed !== undefined) return { text: fixed };
  if (expression.startsWith('secret:')) return resolveSecret(expression.slice('secret:'.length), variables);
  if (expression.startsWith('input:')) return resolveInput(expression.slice('input:'.length), variables);
  const found = FORM.exec(expression);
  if (found === null) {
    const form = /^[\w./:-]{1,60}$/.test(expression) ? `\`\${${expression}}\`` : 'a `${…}` in it';
    return {
      problem: `${form} is not a variable that can be resolved here (\`$\${\` stands for a plain \`\${\`)`,
    };
  }
  const [, name = '', fallback] = found;
  const value = Object.hasOwn(variables.env, name) ? variables.env[name] : undefined;
  // As in a shell: with a default, empty counts as unset.
  if (value !== undefined && (value !== '' || fallback === undefined)) return { text: value };
  if (fallback !== undefined) return expand(fallback, variables);
  return {
    problem: `the environment variable ${name} is not set; set it, or write \`\${${name}:-default}\``,
  };
}

function resolveSecret(name: string, { secret }: Variables): Expanded {
  if (!/^[\w.-]{1,128}$/.test(name))
    return { problem: 'the name of a secret has letters, digits, `_`, `-` and `.`' };
  const value = secret(name);
  return value === undefined
    ? { problem: `no secret is stored as ${name}; \`midspan secret set ${name}\` stores it` }
    : { text: value };
}

function resolveInput(id: string, { env, inputs }: Variables): Expanded {
  if (inputs === undefined)
    return { problem: 'only a VS Code file has inputs; use `${NAME}` for an environment variable' };
  if (!inputs.has(id)) return { problem: `there is no input ${JSON.stringify(id)} in \`inputs\`` };
  const name = inputVariable(id);
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === undefined
    ? {
        problem: `the input ${JSON.stringify(id)} is read from the environment variable ${name}, which is not set`,
      }
    : { text: value };
}

function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
