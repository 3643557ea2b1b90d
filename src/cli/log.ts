/** The log of a command that goes on: JSON lines for programs, readable ones at a terminal; always on stderr. */
import { type Log, type LogLevel, logTo } from '../doors/observe/log.ts';
import { type Printer, type Style, visibleJson } from './print.ts';

const STYLES: Readonly<Record<LogLevel, Style>> = { error: 'red', warn: 'yellow', info: 'dim', debug: 'dim' };

export function logPrinter(
  print: Printer,
  { json, logLevel }: { json?: boolean; logLevel?: LogLevel },
  now: () => Date = () => new Date(),
): Log {
  const isForPrograms = json === true || !print.isTerminal;
  return logTo(({ level, message, facts }) => {
    const time = now().toISOString();
    if (isForPrograms) print.noteText(visibleJson({ time, level, message, ...facts }));
    else
      print.note(
        { style: 'dim', text: time.slice(11, 19) },
        ' ',
        { style: STYLES[level], text: level },
        ` ${message}`,
      );
  }, logLevel);
}
