import { readEnv } from '../config/env.js';
import { migrate } from './migrate.js';
import { reasonOf } from './reason.js';
import { embeddedNotice, resolveEnv } from '../embedded-postgres/resolve-env.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `npm run migrate`: applies what is pending and exits, 0 if the schema is then complete. */
async function run(): Promise<void> {
  const declared = readEnv();
  if (declared.EMBEDDED) say(embeddedNotice(declared));
  const { env, stop } = await resolveEnv(declared, { debug: () => undefined, info: say, warn: say });
  try {
    const applied = await migrate(env.DATABASE_URL);
    say(applied.length === 0 ? 'No migration is pending.' : `Applied ${applied.join(', ')}.`);
  } finally {
    await stop();
  }
}

run().catch((error: unknown) => {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
});
