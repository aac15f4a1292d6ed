// `npm run attacks -- --url URL --token TOKEN [--read-token TOKEN] [--pid PID] [--scale N] [ROW ...]` attacks a running
// service of yours and prints what held. With the process id it measures descriptors and memory (Linux). Exit 1 if
// something did not hold.
import { parseArgs } from 'node:util';
import { registerTypeScript } from '../../support/typescript-hook.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    'read-token': { type: 'string' },
    pid: { type: 'string' },
    scale: { type: 'string', default: '1' },
  },
});
const hosts = ['127.0.0.1', 'localhost', '[::1]'];
if (values.url === undefined || values.token === undefined || !hosts.includes(new URL(values.url).hostname)) {
  process.stderr.write('pass --url of a service on this machine and --token, its admin token\n');
  process.exit(2);
}
registerTypeScript();
const { attempt, ATTACKS, report } = await import('./attacks.ts');
const target = {
  url: values.url,
  adminToken: values.token,
  readToken: values['read-token'],
  pid: values.pid === undefined ? undefined : Number(values.pid),
  scale: Number(values.scale),
};
for (const attack of ATTACKS.filter(({ row }) => positionals.length === 0 || positionals.includes(row))) {
  const outcome = await attempt(attack, target);
  process.stdout.write(report(attack, outcome));
  if (outcome.faults.length > 0) process.exitCode = 1;
}
