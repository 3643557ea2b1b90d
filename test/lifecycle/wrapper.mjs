// What `npx <server>` is to the process table: a process that starts a shell that starts the server, waits for it, and
// ends as it ends. Its arguments are the command line of the server.
import { spawn } from 'node:child_process';

const line = process.argv
  .slice(2)
  .map((word) => `'${word}'`)
  .join(' ');
// `exit` after it, or the shell would put the server in its own place.
const shell = spawn('/bin/sh', ['-c', `'${process.execPath}' ${line}; exit $?`], { stdio: 'inherit' });
shell.on('exit', (code) => process.exit(code ?? 1));
