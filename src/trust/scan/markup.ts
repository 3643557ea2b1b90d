/** Markup that hides text from people, or gives it an authority with models: I03, I04, I14, I15. */
import { phraseRule, slots } from './phrase.ts';

export const AUTHORITY = phraseRule({
  id: 'I03',
  title: 'a tag that lends importance',
  tier: 'soft',
  severity: 'medium',
  why: 'Models were taught that what stands in such tags comes from those they obey.',
  example: '<IMPORTANT>',
  advice: 'Read what stands inside.',
  patterns: [
    /<\/?(?:important|critical|urgent|system(?:[-_ ][\w-]{1,30})?|admin(?:istrator)?|information|instructions?|secret|hidden|priority|override|assistant|developer|mandatory|note[-_ ]to[-_ ]\w{1,20})>/gi,
    /\[(?:system|admin|important|critical|override|urgent|hidden|secret|developer)(?: [a-z_-]{1,30}){0,3}\]/gi,
  ],
});

/** The forms in which models are given turns and tools. Results escape them (R02). */
export const TEMPLATES: readonly RegExp[] = [
  /<\|[a-z_]{2,30}\|>/gi,
  /<｜[^｜\n]{2,40}｜>/g,
  /\[\/?INST\]|<<\/?SYS>>/g,
  /<\/?(?:antml:)?(?:function_calls|function_results|invoke|tool_calls?|tool_use|tool_results?|tool_response|start_of_turn|end_of_turn)\b[^>\n]{0,120}>/gi,
];

export const TEMPLATE = phraseRule({
  id: 'I04',
  title: 'markup of conversations or tool calls',
  tier: 'hard',
  severity: 'critical',
  why: 'It ends the description, as a model sees it, and begins a turn of somebody else.',
  example: '<|im_start|>system',
  advice: 'Accept it only for a tool that is about such templates.',
  mention: true,
  patterns: [
    ...TEMPLATES,
    /\n(?:Human|Assistant): ?(?=\S|$)/g,
    [/(?:^|\s)#{2,4} (?:Instruction|Response|System):/g, 'soft'],
  ],
});

export const HIDDEN = phraseRule({
  id: 'I14',
  title: 'text that is not shown where markup is',
  tier: 'soft',
  severity: 'high',
  why: 'A person who reads the rendered text does not see it. The model does.',
  example: '<!-- assistant: … -->',
  advice: 'Read the comment.',
  patterns: [
    [
      /<!--\s?(?:system|assistant|ai|llm|model|agent|human|important|instructions?|note to)\b(?:[^-]|-(?!->)){0,2000}/gi,
      'hard',
    ],
    /<!--(?:[^-]|-(?!->)){12,2000}/g,
    /\[(?:\/\/|comment)\]: ?(?:#|<>)[^\n]{4,2000}/gi,
    /<\w{1,12}\b[^>\n]{0,120}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0(?![.\d])|color ?: ?transparent)[^>\n]{0,120}>[^<]{0,2000}/gi,
    /<details\b[^>]{0,80}>[^<]{0,400}/gi,
  ],
});

export const ACTIVE = phraseRule({
  id: 'I15',
  title: 'markup that loads something or runs',
  tier: 'soft',
  severity: 'medium',
  why: 'An image is fetched as soon as it is shown, with whatever the address carries. Scripts and their kind run.',
  example: '![](https://…/p.png?d={conversation})',
  advice: 'Look at the address, and at what is to be filled into it.',
  patterns: [
    [
      /!\[[^\]\n]{0,200}\]\(https?:\/\/[^\s)]{1,300}[?&/=](?:\{|\$\{|<|%s|\[|[A-Z][A-Z0-9_]{2,}\b)[^\s)]{0,200}/g,
      'hard',
    ],
    /!\[[^\]\n]{0,200}\]\(https?:\/\/[^\s)]{1,500}/gi,
    [
      /!\[[^\]\n]{0,200}\]\[[^\]\n]{0,100}\][^\0]{0,400}?\[[^\]\n]{1,100}\]: ?https?:\/\/\S{1,300}[?&]\w{1,30}=(?:\{|\$\{|<|[A-Z]{3,})/g,
      'hard',
    ],
    /!\[[^\]\n]{0,200}\]\[[^\]\n]{0,100}\]/g,
    /\bjavascript:[^\s]/gi,
    /\bdata:text\/html/gi,
    /<(?:script|iframe)\b/gi,
    /\bon(?:error|load|click|mouseover|focus) ?= ?["'\w]/gi,
    [
      slots(
        '\\]\\(https?:\\/\\/[^\\s)]{1,300}\\{(?:conversation|chat|history|context|messages|data|secret|token|env)\\w{0,20}\\}',
      ),
      'hard',
    ],
  ],
});
