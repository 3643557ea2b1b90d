/**
 * Ends the servers of a host that was killed and could not do it itself. A host with stdio servers has one watchdog, a
 * shell that reads process groups from its stdin. When the host dies, however it dies, that stdin ends, and the shell
 * ends the groups and all of their descendants: SIGTERM, half a second, SIGKILL. It leaves when there is nothing left to watch.
 *
 * Where there is no such shell (Windows), servers are ended in the `exit` event of this process; after a kill of the
 * host they have to leave by themselves when their stdin ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';

const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r sign group; do
  case "$sign" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit 0

table() {
  if [ -r /proc/self/stat ]
  then cat /proc/[0-9]*/stat 2>/dev/null | awk '{ pid = $1; sub(/^.*\\) /, ""); print pid, $2, $3 }'
  else ps -A -o pid= -o ppid= -o pgid=
  fi
}
members() {
  table | awk -v groups="$groups" '
    { parent[$1] = $2; group[$1] = $3 }
    END {
      n = split(groups, list, " ")
      for (i = 1; i <= n; i++) watched[list[i]] = 1
      for (pid in group) if (group[pid] in watched) found[pid] = 1
      do {
        more = 0
        for (pid in parent) if (!(pid in found) && (parent[pid] in found)) { found[pid] = 1; more = 1 }
      } while (more)
      for (pid in found) print pid
    }'
}
signal() {
  for group in $groups; do kill -s "$1" -- "-$group"; done
  for pid in $found; do kill -s "$1" "$pid"; done
}
alive() {
  for group in $groups; do kill -s 0 -- "-$group" && return 0; done
  for pid in $found; do kill -s 0 "$pid" && return 0; done
  return 1
}
# Stopped, so that none leaves before its children were found: a child without its parent belongs to init.
found=
signal STOP
found=$(members)
signal TERM
signal CONT
for step in 1 2 3 4 5; do
  alive || exit 0
  sleep 0.1 || sleep 1
done
found="$found $(members)"
signal KILL
`;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;

function start(): void {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'midspan-watchdog'], {
    detached: true, // it must survive what is sent to our own group
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: `/usr/bin:/bin:/usr/sbin:/sbin:${process.env['PATH'] ?? ''}` },
  });
  child.unref();
  (child.stdin as Socket).unref();
  child.stdin.on('error', () => {}); // it has gone; 'exit' tells
  const gone = () => {
    if (watchdog !== child) return;
    watchdog = undefined;
    // Somebody ended it: the groups still need one. Not after a failure to start it.
    if (child.pid !== undefined && groups.size > 0) start();
  };
  child.once('exit', gone);
  child.once('error', gone);
  watchdog = child;
  for (const group of groups) child.stdin.write(`+ ${group}\n`);
}

/** What is left to us without a watchdog. */
function endAllNow(): void {
  if (watchdog !== undefined) return;
  for (const group of groups) {
    try {
      if (process.platform === 'win32')
        spawnSync('taskkill', ['/PID', String(group), '/T', '/F'], { windowsHide: true });
      else process.kill(-group, 'SIGKILL');
    } catch {
      // already gone
    }
  }
}

/** Has the process group ended should this process end before `unwatch` is called. */
export function watch(group: number): void {
  if (groups.size === 0) process.on('exit', endAllNow);
  groups.add(group);
  if (watchdog !== undefined) watchdog.stdin?.write(`+ ${group}\n`);
  else if (process.platform !== 'win32') start();
}

/** The group is gone. Resolves when the watchdog is gone too, if it was the last one. */
export async function unwatch(group: number): Promise<void> {
  if (!groups.delete(group)) return;
  const child = watchdog;
  if (groups.size > 0) {
    child?.stdin?.write(`- ${group}\n`);
    return;
  }
  process.removeListener('exit', endAllNow);
  watchdog = undefined;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return;
  child.ref();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin?.end(`- ${group}\n`);
  await exited;
}
