import { describe, expect, it } from 'vitest';
import { scanAsk } from '../../../src/trust/scan/ask.ts';
import type { JsonObject } from '../../../src/types.ts';

const form = (properties: JsonObject, message = 'A few details, please.'): string[] =>
  scanAsk({ kind: 'form', message, schema: { type: 'object', properties } }).map(
    ({ rule, tier, pointer }) => `${rule} ${tier} ${pointer}`,
  );
const url = (address: string): string[] =>
  scanAsk({ kind: 'url', message: 'Sign in.', url: address }).map(({ rule, tier }) => `${rule} ${tier}`);

describe('forms', () => {
  it.each<[string, JsonObject]>([
    ['a name', { password: { type: 'string' } }],
    ['a format', { answer: { type: 'string', format: 'password' } }],
    ['a title', { answer: { type: 'string', title: 'Your seed phrase' } }],
    ['a description', { answer: { type: 'string', description: 'The one-time code we sent you' } }],
  ])('that ask for a secret by %s must not be shown', (_, properties) => {
    expect(form(properties).join()).toMatch(/^S13 hard \/schema\/properties\//);
  });

  it('that ask for a secret in the message must not be shown', () => {
    expect(form({ answer: { type: 'string' } }, 'Enter your GitHub password')).toEqual(['S13 hard /message']);
  });

  it.each<[string, JsonObject, string]>([
    ['a plain question', { name: { type: 'string', description: 'Your name' } }, 'Who are you?'],
    [
      'a choice about passwords',
      { policy: { type: 'string', enum: ['strong', 'weak'] } },
      'Which password policy?',
    ],
    ['a warning', { note: { type: 'string', description: 'Do not include your password.' } }, 'Notes'],
    ['a yes or no', { confirm: { type: 'boolean' } }, 'Reset the password?'],
  ])('may hold %s', (_, properties, message) => {
    expect(form(properties, message)).toEqual([]);
  });

  it('with an address filled in are told of', () => {
    expect(form({ server: { type: 'string', default: 'https://a.example/x' } })).toEqual([
      'E01 soft /schema/properties/server/default',
    ]);
  });
});

describe('addresses', () => {
  it.each([
    'http://a.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://user:pass@a.example/',
    'https://github.com@a.example/',
    'https://10.0.0.1/',
    'https://a.example/\u202Egnp.exe',
    'https://a.example/ --flag',
    'https://a.example/"&calc',
    'not an address',
  ])('such as %s must not be opened', (address) => {
    expect(url(address)).toEqual(['E01 hard']);
  });

  it.each([
    'https://xn--80ak6aa92e.com/',
    'https://аpple.com/',
    'https://203.0.113.7/',
    'https://bit.ly/x',
    'https://github.com.login.example/device',
    'https://login-paypal.example/',
    'http://localhost:8080/callback',
  ])('such as %s are told of', (address) => {
    expect(url(address)).toEqual(['E01 soft']);
  });

  it.each([
    'https://github.com/login/device',
    'https://accounts.google.com/o/oauth2',
    'https://a.example/sign-in?github=1',
    'https://pineapple.example/',
  ])('such as %s are fine', (address) => {
    expect(url(address)).toEqual([]);
  });
});
