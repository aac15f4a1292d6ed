import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from '../core/database/pool.js';
import { onlyRow, type Sql } from '../core/database/sql.js';
import type { ResolvedEnv } from '../core/config/env.js';
import { messageOf } from './calls.js';
import { DEMO_PERSON } from './demo-data.js';
import { fillDemo } from './fill.js';
import { type Demo, seedDemo } from './seed.js';

/*
 * The demo: fills a service through its own interfaces, as partners and admins do. It writes no table, and the service does not know
 * that it is there, but for the mark of its haulers.
 */

/** An arbitrary number: all instances use the same advisory lock. */
const DEMO_LOCK = 4_867_391_251;
const RETRY_MS = 500;
/** Longer than any fill. */
const IDLE_MS = 300_000;

/**
 * Runs `work` while no other instance on this database does. As for migrations, a transaction of a connection of its own holds the
 * lock, because a pooler may give a session to others. Undefined if `signal` was aborted before.
 */
export async function oneAtATime<T>(
  databaseUrl: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const pool = new Pool({
    databaseUrl,
    applicationName: 'haulbridge demo',
    connections: 1,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 10_000,
    transactionIdleMs: IDLE_MS,
    isPipelined: false,
    idleMs: 0,
  });
  const attempt = async (transaction: Sql) => {
    const sql = `SELECT pg_try_advisory_xact_lock(${DEMO_LOCK}) AS locked`;
    if (!onlyRow(await transaction.query<{ locked: boolean }>(sql)).locked) return undefined;
    return { result: await work() };
  };
  try {
    for (; !signal.aborted; await delay(RETRY_MS, undefined, { signal })) {
      const done = await pool.transaction(attempt, { attempts: 1 });
      if (done !== undefined) return done.result;
    }
    return undefined;
  } finally {
    await pool.close();
  }
}

/** With a token of `DEMO_PERSON`, which nobody else learns and which ends with this process. */
export function withDemoPerson(env: ResolvedEnv): ResolvedEnv {
  const person = { name: DEMO_PERSON, token: randomBytes(32).toString('base64url'), role: 'operator' } as const;
  return { ...env, ADMIN_TOKENS: [...(env.ADMIN_TOKENS ?? []), person] };
}

export interface MadeDemo {
  /** What the examples need; undefined if not even that could be made. */
  readonly demo?: Demo;
  /** What could not be made, each with its reason. */
  readonly missing: readonly string[];
}

/** Sets the demo up and fills it, while no other instance on the database does. Never throws. */
export async function makeDemo(env: ResolvedEnv, baseUrl: string, signal: AbortSignal): Promise<MadeDemo> {
  let demo: Demo | undefined;
  try {
    const missing = await oneAtATime(env.DATABASE_URL, signal, async () => {
      demo = await seedDemo(env, baseUrl);
      return fillDemo(env, baseUrl, demo, signal);
    });
    return { ...(demo && { demo }), missing: missing ?? [] };
  } catch (error) {
    return { ...(demo && { demo }), missing: [messageOf(error)] };
  }
}
