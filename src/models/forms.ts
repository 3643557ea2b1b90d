/** The forms of a model's name, for help and errors. */
export const MODEL_FORMS: readonly { form: string; what: string }[] = [
  { form: 'anthropic:<model>', what: 'Anthropic Messages (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL)' },
  { form: 'openai:<model>', what: 'OpenAI Responses (OPENAI_API_KEY, OPENAI_BASE_URL)' },
  {
    form: 'openai-chat:<model>',
    what: 'Chat Completions of OpenAI or any compatible server (OPENAI_API_KEY, OPENAI_BASE_URL)',
  },
  { form: 'gemini:<model>', what: 'Gemini generateContent (GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL)' },
  { form: 'gemini-interactions:<model>', what: 'Gemini Interactions (as gemini:)' },
  { form: 'script:<file>', what: 'a scripted model, for tests and demonstrations' },
];
