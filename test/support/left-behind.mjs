import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The running processes that this test run started: its descendants, and orphans that have the folder of the run in their
 * environment or command line. Waits some seconds for their end. Empty on systems without /proc.
 */
export async function leftBehind(folder, timeoutMs = 5_000) {
  if (process.platform !== 'linux') return [];
  for (const end = Date.now() + timeoutMs; ; await delay(50)) {
    const found = processesOf(folder);
    if (found.length === 0 || Date.now() > end) return found;
  }
}

function processesOf(folder) {
  const parents = new Map();
  const ours = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [stat, environment, command] = ['stat', 'environ', 'cmdline'].map((file) => read(`/proc/${pid}/${file}`));
    // A process that has ended has no command line.
    if (command === '' || stat === '') continue;
    parents.set(pid, stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
    ours.push({ pid, command: command.replaceAll('\0', ' ').trim(), marked: (environment + command).includes(folder) });
  }
  const descends = (pid) => pid !== undefined && (pid === String(process.pid) || descends(parents.get(pid)));
  return ours.filter(({ pid, marked }) => Number(pid) !== process.pid && (marked || descends(pid)));
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}
