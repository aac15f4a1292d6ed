import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The processes that this test run has started and that still live: its descendants, and
 * whoever carries the run's folder in its environment or in its command line, though its parent be gone. They get some
 * seconds to end. Empty where there is no /proc to be read.
 */
export async function leftBehind(folder, patienceMs = 5_000) {
  if (process.platform !== 'linux') return [];
  for (const end = Date.now() + patienceMs; ; await delay(50)) {
    const found = processesOf(folder);
    if (found.length === 0 || Date.now() > end) return found;
  }
}

function processesOf(folder) {
  const parents = new Map();
  const ours = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [stat, environment, command] = ['stat', 'environ', 'cmdline'].map((file) => read(`/proc/${pid}/${file}`));
    // One that has ended has no command line.
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
