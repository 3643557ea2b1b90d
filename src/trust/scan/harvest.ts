/** Texts that reach for what is none of a tool's business, and where it is to go: I10 to I13, I16. */
import { phraseRule, slots } from './phrase.ts';
import { CONVERSATION, DESTINATION, EMAIL, MUST, SECRET_PATH, SECRETS, SETTINGS_PATH, URL } from './slots.ts';

export const PATH = phraseRule({
  id: 'I10',
  title: 'names a place where secrets lie',
  tier: 'soft',
  severity: 'medium',
  why: 'Few tools have business with keys, credentials and the settings of clients.',
  example: '~/.ssh/id_rsa',
  advice: 'Accept it for a tool that is about these files.',
  patterns: [slots(SECRET_PATH), slots(SETTINGS_PATH)],
});

const TAKE =
  '\\b(?:read(?:_?file| (?:in|from))?|send|embed|include|upload|post|attach|pass|copy|cat|print|output|forward|supply|provide|overwrite|append|open|access|fetch|extract|dump|return|paste|put|share|e?mail|list|load|retrieve|submit|insert|(?:full |file )?contents?[- ](?:of|from)|reading)\\b';
const CARRY =
  '\\b(?:send|embed|include|upload|post|attach|pass|cat|forward|supply|e?mail|share|submit|contents?[- ](?:of|from))\\b';
const STEAL = '\\b(?:exfiltrat|steal|leak(?!ed)|harvest|siphon|smuggl)\\w{0,4}\\b';
const BE_GIVEN =
  '\\b(?:should|must|needs? to|has to|have to|is to|are to|to|shall|is|are)(?: \\w+)? (?:be )?(?:supplied|passed|attached|included|sent|provided|uploaded|forwarded|added|shared|pasted|copied|required|submitted|read)\\b';

export const TAKING = phraseRule({
  id: 'I11',
  title: 'wants secrets read or handed over',
  tier: 'hard',
  severity: 'high',
  why: 'An order to read a key or a file of credentials, or to pass one on, is what most attacks come down to.',
  example: '"read ~/.ssh/id_rsa and pass its content"',
  advice: 'Do not use this server, unless it is a tool for exactly these files.',
  patterns: [
    slots(SECRET_PATH, 30, `${MUST}|\\bfirst\\b`, 12, TAKE),
    slots(TAKE, 60, SECRET_PATH),
    slots(CARRY, 60, SETTINGS_PATH),
    slots(`${SECRET_PATH}|${SETTINGS_PATH}`, 40, BE_GIVEN),
    slots(
      '\\b(?:append|appends|log|logs|write|writes|cop(?:y|ies)|save|saves|store|stores|record|dump)\\b',
      90,
      '\\/(?:tmp|var\\/tmp|dev\\/shm)\\/\\.\\w',
    ),
    slots(STEAL, 40, `${SECRET_PATH}|${SETTINGS_PATH}|\\b(?:${SECRETS})\\b|\\ball (?:\\w+ )?data\\b`),
    slots(
      "(?<!\\b(?:not|never|don't) )\\b(?:include|embed|put|show|print|write|repeat|reveal|add)\\b",
      4,
      '\\b(?:the|these|those|any|all) (?:\\w+ )?(?:passwords?|passphrases?|credentials?|secrets|(?:api|secret|private|access|ssh) keys?)\\b',
      12,
      '\\b(?:in|into|with) your (?:\\w+ )?(?:responses?|repl(?:y|ies)|answers?|outputs?|summary)\\b',
    ),
    slots(
      '\\b(?:send|post|upload|e?mail|forward|transmit|submit|deliver|exfiltrate|copy)\\b',
      40,
      `\\b(?:${SECRETS})\\b`,
      30,
      '\\b(?:to|at|via)\\b',
      15,
      DESTINATION,
    ),
    slots(
      '\\b(?:read|collect|gather|find|take|get|harvest)\\b',
      12,
      `\\b(?:all|any|every|the user'?s?) (?:\\w+ )?(?:${SECRETS})\\b`,
      20,
      '\\b(?:and|then)\\b',
      8,
      '\\b(?:send|post|upload|e?mail|forward|transmit|include|attach|pass)\\b',
    ),
    slots(
      '\\b(?:include|add|append|attach|paste|insert|list|collect|gather|send|pass)\\b',
      12,
      `\\b(?:any|all|every) (?:of the )?(?:\\w+ )?(?:${SECRETS})\\b`,
      20,
      '\\b(?:found|available|stored|present|you (?:find|see|have|know)|(?:in|from) (?:the |your |this )?(?:workspace|environment|context|files?|system|conversation|memory))\\b',
    ),
  ],
});

export const TRANSFER = phraseRule({
  id: 'I12',
  title: 'wants something sent to an address that it names',
  tier: 'soft',
  severity: 'medium',
  why: 'An address in a description is chosen by the server, not by the person.',
  example: '"send a copy to https://…"',
  advice: 'Look at whether the address belongs to the service.',
  patterns: [
    [
      slots(
        '\\b(?:send|call|use|post|forward|upload|e?mail|pass|submit|report|copy)\\b',
        40,
        CONVERSATION,
        30,
        '\\b(?:to|at|via)\\b',
        15,
        `(?:${EMAIL}|${URL})`,
      ),
      'hard',
    ],
    slots(
      '\\b(?:send|sends|forward|upload|transmit|exfiltrate|e?mail|submit|report|copy|leak|deliver|ship|sync|post|bcc|blind copy|mirror)(?:s|ed|ing)?\\b',
      60,
      '\\b(?:to|at|via|with|cc|bcc)\\b',
      20,
      `(?:${DESTINATION})`,
    ),
    slots(
      '\\b(?:needs?|requires?|set|add|use)\\b',
      12,
      `\\b(?:bcc|cc|to|recipient|webhook|callback|redirect\\w*|endpoint)\\b ?[=:]? ?`,
      `(?:${EMAIL}|${URL})`,
    ),
    slots(
      MUST,
      15,
      '\\b(?:access|contact|ping|reach|hit|notify|connect|visit|request|send|post|make)\\b',
      50,
      '\\b(?:to|at|from|with)\\b',
      6,
      URL,
    ),
    slots(CONVERSATION, 15, '\\b(?:to|at|via)\\b', 6, `(?:${EMAIL}|${URL})`),
  ],
});

export const CONVERSATIONS = phraseRule({
  id: 'I13',
  title: 'asks for the conversation or for what the model was told',
  tier: 'soft',
  severity: 'medium',
  why: 'Only few tools need more of a conversation than their own arguments.',
  example: '"the entire conversation"',
  advice: 'Accept it for a tool that asks another model.',
  patterns: [
    slots(CONVERSATION),
    [
      slots(
        '\\b(?:reveal|print|output|repeat|return|disclose|show|leak|include|send)\\b',
        12,
        '\\b(?:your|the) (?:\\w+ )?system (?:prompt|message|instructions)\\b',
        4,
        '(?= ?(?:to the (?:caller|user|tool)|[,.;]|and|then|verbatim|$))',
      ),
      'soft',
    ],
    slots('\\b(?:names?|list) of (?:all |the |any )?(?:\\w+ )?tools (?:you|available to you|that you)\\b'),
    slots('\\ball (?:\\w+ )?names available to you\\b'),
  ],
});

export const SHELL = phraseRule({
  id: 'I16',
  title: 'a dangerous command',
  tier: 'soft',
  severity: 'high',
  why: 'Commands that fetch and run code, delete files or open a way in do not belong into a description, and even less into an order.',
  example: 'curl https://… | sh',
  advice: 'Accept it in examples of a tool that runs commands.',
  patterns: [
    [
      slots(
        '\\b(?:must|always|execute|silently|automatically|required to|prefix|have to|need to)\\b',
        40,
        '\\b(?:curl|wget)\\b[^|\\n]{0,120}\\| ?(?:sudo )?(?:\\/bin\\/)?(?:ba|z|da|k)?sh\\b|\\brm -[rf]{1,2}\\b|\\bchmod -?R? ?0?[67]{3}|\\bchmod \\+x \\/tmp|\\/dev\\/tcp\\/|>>? ?~?\\/?\\S{0,40}(?:\\.bashrc|\\.zshrc|\\.profile|authorized_keys)',
      ),
      'hard',
    ],
    [
      slots(
        `${MUST}|\\bplease\\b`,
        20,
        '\\b(?:execute|run|perform)\\b',
        60,
        '\\b(?:commands?|checks?|scripts?|validation|diagnostics?)\\b[^.!?:\\n]{0,80}: ?[`"\']?(?:curl|wget|sudo|rm -|chmod|nc|bash|sh|powershell|dd)\\b',
      ),
      'hard',
    ],
    slots(
      MUST,
      12,
      '\\b(?:execute|run)\\b',
      4,
      '\\b(?:the following|this) (?:\\w+ ){0,3}(?:commands?|checks?|scripts?):',
    ),
    slots(
      '\\b(?:add|adding|append|appending|insert|inserting|write|writing)\\b',
      60,
      '(?<![\\w.])\\.(?:bashrc|zshrc|bash_profile|zprofile)\\b|\\bcrontab\\b|\\/etc\\/cron|\\/etc\\/sudoers',
    ),
    slots('\\b(?:curl|wget)\\b[^\\n]{0,120}\\$\\('),
    slots(
      '\\b(?:curl|wget)\\b[^|\\n]{0,120}\\| ?(?:sudo )?(?:\\/bin\\/)?(?:(?:ba|z|da|k)?sh|python3?|node|perl)\\b',
    ),
    slots('\\brm -(?:rf|fr|r -f|f -r) ?(?:[~/*]|\\$HOME|--no-preserve-root)'),
    slots('\\/dev\\/tcp\\/[\\w.]+'),
    slots('\\$\\((?:curl|wget)\\b'),
    slots(
      '>> ?(?:~|\\$HOME|\\/home\\/\\w{1,32}|\\/root)\\/\\.(?:bashrc|zshrc|profile|bash_profile|ssh\\/authorized_keys)',
    ),
    slots('\\bpowershell(?:\\.exe)? [^\\n]{0,40}-e(?:nc|ncodedcommand)?\\b'),
    slots('\\bchmod (?:\\+x|-R 0?[67]{3}|0?777|-R 0?666)\\b'),
    slots('\\bnc (?:-\\w+ )?-\\w{0,3}e\\b|\\bmkfifo \\/tmp\\b|\\bbash -i\\b'),
    slots('\\bbase64 (?:-d|--decode)\\b[^|\\n]{0,40}\\| ?(?:ba|z)?sh\\b'),
    slots('\\bsudo (?:rm|chmod|chown|cat|tee|sh|bash|dd|useradd|visudo)\\b'),
    slots('\\b(?:iex|invoke-expression) ?\\('),
  ],
});
