/** Names that ask for what is none of a tool's business. */

/** The words of a name: `userPrompt`, `user-prompt` and `user_prompt` are the same. */
export function wordsOf(name: string, most: number = 256): string[] {
  return name
    .slice(0, most)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

const oneOf = (...alternatives: string[]): RegExp =>
  new RegExp(`(?:^|_)(?:${alternatives.join('|')})(?:_|$)`);

/** What was said, what the model was told, and what it thought. */
const CONVERSATION = oneOf(
  'side_?notes?',
  '(?:conversation|chat|dialogu?e|message|session|prompt)_(?:history|log|transcript|context|summary)',
  '(?:chain|train)_of_thoughts?',
  '(?:previous|prior|past|earlier|all)_(?:messages|turns|conversations?|prompts|tool_(?:results|calls|outputs))',
  '(?:full|entire|complete|whole)_(?:context|conversation|chat|transcript|prompt)',
  '(?:system|developer)_(?:prompt|message|instructions?)',
  '(?:model|llm|assistant|internal|hidden)_(?:reasoning|thoughts?|memory|scratchpad|instructions)',
  '(?:llm|calling|current)_model(?:_name)?',
  '(?:available|other|all)_tools?(?:_list)?',
);

/** What lies on the user's machine. */
const MACHINE = oneOf(
  '(?:env|environment)_(?:vars|variables|dump)',
  'process_env',
  'ssh_(?:private_)?keys?',
  'id_rsa',
  'id_ed25519',
  'etc_passwd',
  'aws_credentials',
  'mcp_json',
  'claude_desktop_config',
  'user_(?:secrets?|credentials|passwords|tokens)',
  '(?:secrets?|credentials|passwords?|api_keys?|tokens?)_of_(?:the_)?user',
);

/** Put between underscores to look like something internal. */
const SIGIL = /^_+[a-z0-9]+(?:_[a-z0-9]+)*_+$/i;
const INTERNAL = oneOf(
  'system',
  'prompt',
  'context',
  'conversation',
  'history',
  'memory',
  'instructions',
  'reasoning',
  'thoughts?',
  'secrets?',
  'env',
);

/** The same few names stand in most definitions. */
function remembered<T>(judge: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    if (name.length > 256) return judge(name);
    let verdict = known.get(name);
    if (verdict === undefined && !known.has(name)) {
      if (known.size >= 5_000) known.clear();
      verdict = judge(name);
      known.set(name, verdict);
    }
    return verdict as T;
  };
}

/** `sigil`: such as `_system_prompt_`. `harvest`: asks for the conversation or for what lies on the machine. */
export const harvests = remembered((name): 'sigil' | 'harvest' | undefined => {
  const joined = wordsOf(name).join('_');
  if (SIGIL.test(name.slice(0, 256)) && INTERNAL.test(joined)) return 'sigil';
  return CONVERSATION.test(joined) || MACHINE.test(joined) ? 'harvest' : undefined;
});

const SECRET = oneOf(
  'pass_?(?:word|phrase|code)s?',
  'passwd',
  'otp',
  '(?:totp|mfa|2fa|two_factor|one_time)_?(?:code|token|secret|password)?',
  '(?:seed|recovery|secret|mnemonic|backup)_(?:phrase|words?|codes?)',
  'mnemonic',
  'cvv2?',
  'cvc2?',
  '(?:card|account)_pin',
  'pin_code',
  '(?:credit_|debit_)?card_number',
  'ssn',
  'social_security(?:_number)?',
  'private_key(?:_pem)?',
  'ssh_(?:private_)?key',
  'signing_key',
  '(?:api|secret|access)_key(?:_of_(?:the_)?user)?',
  'user_(?:secrets?|credentials|passwords?)',
  'client_secret',
  '(?:access|refresh|bearer|auth|session)_token',
);
/** Names of settings and references, not of the secret: `password_policy`, `otp_enabled`, `card_number_mask`. */
const ABOUT_SECRET =
  /_(?:policy|policies|enabled|required|length|count|id|ids|type|types|format|expiry|expires|field|fields|reset|strength|hint|mask|masked|last4|limit|limits|name|names|rule|rules)$/;

/** Whether a name asks for something that proves who a person is. */
export const isSecret = remembered((name): boolean => {
  const joined = wordsOf(name).join('_');
  return SECRET.test(joined) && !ABOUT_SECRET.test(joined);
});
