/** Meanings that several phrase rules are made of, as parts of regular expressions. */

export const EMAIL = '[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,4}';
export const URL = 'https?:\\/\\/[^\\s"\'`<>)]{3,}';
export const DESTINATION = `${URL}|${EMAIL}|\\bwebhook|\\b(?:external|remote|third[- ]party|attacker\\S{0,2}|outside|unknown|collect(?:or|ion)|exfil\\w*)(?: \\w{1,20}){0,2} (?:servers?|hosts?|endpoints?|sites?|addresses|address|urls?|services?|collectors?|systems?)\\b|\\battacker`;

/** Files and stores that prove who a person is. */
export const SECRET_PATH =
  '(?:~|\\$HOME|%USERPROFILE%|\\/home\\/\\w{1,32}|\\/root|\\/Users\\/\\w{1,32})?[\\\\/]?\\.ssh\\b(?![\\w/.]{0,40}\\.pub\\b)|\\bid[_ ](?:rsa|dsa|ecdsa|ed25519)\\b(?!\\.pub)|\\.aws[\\\\/]\\w+|\\.gnupg\\b|\\/etc\\/(?:shadow|passwd|sudoers)\\b|~\\/\\.env\\b|\\.git-credentials\\b|(?:\\/\\.?|(?<![\\w/])\\.)mcp\\.json\\b|\\b(?:claude_desktop_config|mcp_config|mcp_settings)\\.json\\b|\\bclaude_desktop_config\\b|\\bwallet\\.dat\\b|\\bLogin Data\\b|\\bcookies\\.sqlite\\b|\\bkeychain(?:-db)?\\b|\\bprocess\\.env\\b(?!\\.)|\\/proc\\/self\\/environ\\b|\\bNTUSER\\.DAT\\b|\\bauthorized_keys\\b|\\.config\\/gcloud\\b|(?:~|\\$HOME|\\/root|\\/etc|\\/home\\/\\w{1,32})\\/(?:[\\w.-]{1,40}\\/){0,3}[\\w.-]{0,30}(?:credentials?|passwords?|secrets?)\\b';
/** Files that hold secrets beside much that is none. */
export const SETTINGS_PATH =
  '(?:[~\\w]\\/)?\\.kube\\b|\\.npmrc\\b|\\.netrc\\b|\\.pypirc\\b|\\.docker\\/config\\b|\\.pgpass\\b|(?<![\\w./])\\.env\\b(?!\\.(?:example|sample|template))|\\.(?:bash|zsh)_history\\b|~\\/\\.(?:bashrc|zshrc|profile|bash_profile)\\b';
export const SECRETS =
  '(?:api|access|secret|private|ssh|encryption|signing) keys?|credentials?|passwords?|passphrases?|secrets|(?:access|auth|bearer|session|refresh) tokens?|tokens|environment variables|env vars|cookies|seed phrases?|wallets?';
export const CONVERSATION =
  "(?:entire|full|whole|complete|previous|prior|past|current|ongoing|earlier|verbatim) (?:user )?(?:conversation|chat|dialogue?|message|prompt|interaction)(?:s|(?: |-)?(?:history|log|logs|context|messages|transcript|thread))?\\b|\\b(?:conversation|chat|message) (?:history|transcript|log|context)\\b|\\bsystem prompts?\\b|\\bchain[- ]of[- ]thought\\b|\\b(?:previous|prior|past|earlier) (?:messages|turns|tool (?:results|calls|outputs))\\b|\\beverything you know about\\b|\\b(?:your|the model's) (?:reasoning|instructions|context window|memory|internal \\w+)\\b";
export const MUST =
  '\\b(?:must(?! not)|always|needs? to|ha(?:s|ve) to|(?:is|are) required to|required|should|shall|ought to|mandatory|make sure to|be sure to|ensure (?:that )?you|it is (?:necessary|essential|imperative|critical) to)\\b';
export const READERS = 'model|assistant|agent|llm|ai|bot|claude|gpt|gemini|copilot|cursor';
