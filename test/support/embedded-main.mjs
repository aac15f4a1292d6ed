// Runs an embedded PostgreSQL until it receives a signal. Arguments: the folder of the sources, DATA_DIR.
import { setInterval } from 'node:timers';
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
const [, , root, dataDir] = process.argv;
const { startEmbeddedPostgres } = await import(`${root}/src/embedded-postgres/start-embedded-postgres.ts`);
const say = (text) => process.stderr.write(`${text}\n`);
try {
  const { url, stop } = await startEmbeddedPostgres({ dataDir, log: { debug() {}, info: say, warn: say } });
  process.once('SIGTERM', () => void stop().then(() => process.exit(0)));
  process.once('SIGUSR2', () => process.exit(3));
  process.stdout.write(`${url}\n`);
} catch (error) {
  say(error.name === 'StartupError' ? error.message : error.stack);
  process.exit(1);
}
// It must not outlive a test run that was killed.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500);
