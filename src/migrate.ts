import { readEnv } from './core/config/env.js';
import { migrate } from './core/database/migrate.js';
import { reasonOf } from './core/database/reason.js';
import type { Sql } from './core/database/sql.js';
import { embeddedNotice, resolveEnv } from './embedded-postgres/resolve-env.js';
import { assertOwnKey } from './partner-client/secrets-key.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** `npm run migrate`: applies the pending migrations and exits, with 0 if none is missing afterwards. */
async function run(): Promise<void> {
  const declared = readEnv();
  // The first process of a container would ignore a signal without a handler.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
  if (declared.EMBEDDED) print(embeddedNotice(declared));
  const { env, stop } = await resolveEnv(declared, { debug: () => undefined, info: print, warn: print });
  try {
    const before = (database: Sql) => assertOwnKey(database, env.SECRETS_KEY);
    const applied = await migrate(env.DATABASE_URL, { report: print, before });
    print(applied.length === 0 ? 'No migration is pending.' : `Applied ${applied.join(', ')}.`);
  } finally {
    await stop();
  }
}

run().catch((error: unknown) => {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
});
