import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrinter, type Printer, visible, visibleJson } from '../../src/cli/print.ts';

function screen(options: { isTTY: boolean; env?: Record<string, string>; columns?: number }) {
  let out = '';
  let err = '';
  const { isTTY, columns = 40 } = options;
  const print: Printer = createPrinter(
    { isTTY, columns, write: (text) => (out += text) },
    { isTTY, columns, write: (text) => (err += text) },
    options.env ?? {},
  );
  return { print, out: () => out, err: () => err };
}

describe('what is printed', () => {
  it.each([
    ['\u001B[31mred\u001B[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u001B]52;c;aGk=\u0007', '\\x1b]52;c;aGk=\\x07'],
    ['\u009B2J\u0090', '\\x9b2J\\x90'],
    ['safe\rfake', 'safe\\rfake'],
    ['one\ntwo\tthree\b', 'one\\ntwo\\tthree\\x08'],
    ['abc\u202Efdp.exe', 'abc\\u{202e}fdp.exe'],
    ['a\u200Bb\u2066c\uFEFF', 'a\\u{200b}b\\u{2066}c\\u{feff}'],
    ['tag\u{E0041}\u{E007F}', 'tag\\u{e0041}\\u{e007f}'],
    ['a\u2028b\uD800', 'a\\u{2028}b\\u{d800}'],
    ['blank\u3164\u115F', 'blank\\u{3164}\\u{115f}'],
    ['x\uFE0Fy', 'x\\u{fe0f}y'],
    ['Grüße 你好 👩‍💻 ❤️ 👍🏽', 'Grüße 你好 👩‍💻 ❤️ 👍🏽'],
  ])('shows %j as %j', (text, wanted) => {
    expect(visible(text)).toBe(wanted);
  });

  it('never writes a control or a format character that came with the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const { print, out, err } = screen({ isTTY: false });
        print.line(text, { style: 'red', text });
        print.text(text);
        print.note(text);
        print.noteText(text);
        print.table([[text, text]]);
        expect(out() + err()).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
      }),
    );
  });

  it('keeps the value of JSON while nothing in it can act on a terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const json = visibleJson({ [text]: text });
        expect(JSON.parse(json)).toEqual({ [text]: text });
        expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}\uFEFF]/u);
      }),
    );
    expect(visibleJson('\u{E0041}')).toBe('"\\udb40\\udc41"');
  });

  it('colors on a terminal only, and not with NO_COLOR or a dumb one', () => {
    const colored = (options: Parameters<typeof screen>[0]) => {
      const { print, out } = screen(options);
      print.line({ style: 'bold', text: 'x' });
      return out();
    };
    expect(colored({ isTTY: true })).toBe('\u001B[1mx\u001B[22m\n');
    expect(colored({ isTTY: false })).toBe('x\n');
    expect(colored({ isTTY: true, env: { NO_COLOR: '1' } })).toBe('x\n');
    expect(colored({ isTTY: true, env: { TERM: 'dumb' } })).toBe('x\n');
  });

  it('keeps the status to one line, only on a terminal, and takes it away before anything else', () => {
    const { print, out, err } = screen({ isTTY: true, columns: 12 });
    print.status('a long line of status\nwith two lines');
    print.line('result');
    print.status(undefined);
    expect(err()).toBe('a long lin…\r\u001B[K');
    expect(out()).toBe('result\n');
    const sizeless = screen({ isTTY: true, columns: 0 });
    sizeless.print.status('shown all the same');
    expect(sizeless.err()).toBe('shown all the same');
    const plain = screen({ isTTY: false });
    plain.print.status('x');
    expect(plain.err()).toBe('');
  });

  it('starts a line of its own beside a result that is still being written on the same screen', () => {
    const { print, out, err } = screen({ isTTY: true });
    print.text('half a line');
    print.status('not shown in the middle of it');
    print.note('note');
    expect(out()).toBe('half a line\n');
    expect(err()).toBe('note\n');
  });

  it('aligns tables by what is seen', () => {
    const { print, out } = screen({ isTTY: false });
    print.table([
      ['a', 'b', 'c'],
      ['long\u0007', '你', ''],
    ]);
    expect(out()).toBe('a         b   c\nlong\\x07  你  \n');
  });
});
