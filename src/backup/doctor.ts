import { readCommandEnv } from '../config/command-env.js';
import { pendingMigrations } from '../database/migrate.js';
import { schemaFault } from '../database/schema-faults.js';
import { appliedMigrations } from '../database/schema.repository.js';
import type { Sql } from '../database/sql.js';
import { openStorage } from '../storage/open-storage.js';
import { knownRoots } from '../storage/storage-roots.repository.js';
import { withDatabase } from './command-database.js';
import { checkedDatabase, databaseClock, partitionedTables, standbys, waitingWork } from './doctor.repository.js';
import {
  clockVerdict,
  databaseVerdict,
  type Finding,
  migrationsVerdict,
  partitionsVerdict,
  replicationVerdict,
  workVerdict,
} from './doctor.rules.js';
import { failureOf } from './failure-sentence.js';
import type { CommandResult } from './run-command.js';

/** What the operator should know about the database and the storage, one line each. Changes nothing. */
export async function doctor(): Promise<CommandResult> {
  const env = readCommandEnv();
  const findings = await withDatabase(env, (database) => examine(database, env.STORAGE_URL));
  const wrong = findings.filter(({ ok }) => !ok);
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ name, ok, text }) => `${ok ? 'ok   ' : 'WRONG'}  ${name.padEnd(width)}  ${text}`);
  return {
    sentence: lines.join('\n'),
    details: { checks: findings },
    ...(wrong.length === 0 ? {} : { failure: `to be put right: ${wrong.map(({ name }) => name).join(', ')}` }),
  };
}

async function examine(database: Sql, storageUrl: string): Promise<Finding[]> {
  const checks: readonly [string, () => Promise<Omit<Finding, 'name'>>][] = [
    ['database', async () => databaseVerdict(await checkedDatabase(database))],
    [
      'replication',
      async () => replicationVerdict(await standbys(database), (await checkedDatabase(database)).synchronousNames),
    ],
    ['migrations', () => migrations(database)],
    ['partitions', async () => partitionsVerdict(await partitionedTables(database))],
    ['due work', async () => workVerdict(await waitingWork(database))],
    ['storage', () => storage(database, storageUrl)],
    ['clock', () => clock(database)],
  ];
  const findings: Finding[] = [];
  for (const [name, check] of checks) findings.push({ name, ...(await check().catch(failed)) });
  return findings;
}

function failed(error: unknown): Omit<Finding, 'name'> {
  const text = failureOf(error);
  if (text === undefined) throw error;
  return { ok: false, text };
}

const migrations = async (database: Sql) =>
  migrationsVerdict(
    (await appliedMigrations(database)).length,
    await pendingMigrations(database),
    await schemaFault(database),
  );

async function storage(database: Sql, storageUrl: string): Promise<Omit<Finding, 'name'>> {
  const opened = await openStorage(storageUrl, { roots: knownRoots(database) });
  try {
    const { writable, reason = '', advice } = await opened.check();
    const text = writable ? `takes files; storage check compares them with the database` : `STORAGE_URL: ${reason}`;
    return { ok: writable, text: advice === undefined ? text : `${text}. ${advice}` };
  } finally {
    opened.close();
  }
}

/** The answer is taken for the middle of the time that it took. */
async function clock(database: Sql): Promise<Omit<Finding, 'name'>> {
  const before = Date.now();
  const time = await databaseClock(database);
  return clockVerdict((before + Date.now()) / 2 - time);
}
