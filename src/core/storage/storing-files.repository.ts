import { randomUUID } from 'node:crypto';
import type { Sql } from '../database/sql.js';
import { inBackground } from '../errors/background.js';

const RENEWAL_MS = 30_000;

/** An announcement that was not renewed for this long is of a process that has ended. */
const IS_LIVE = "renewed_at >= now() - interval '15 minutes'";

/** The files that processes of all instances are storing, and whose rows they write later. */
export interface AnnouncedFiles {
  has(name: string): boolean;
}

/**
 * Does work that stores the file of this name and then writes its row. Until the end a repair of the storage, of whichever
 * instance, does not take the file for one without a row. Without a name: any file, as while clips are prepared. The announcements
 * of ended processes are removed with the next one.
 */
export async function whileAnnounced<T>(database: Sql, name: string | undefined, work: () => Promise<T>): Promise<T> {
  const id = randomUUID();
  await database.query(`DELETE FROM storing_files WHERE NOT ${IS_LIVE}`, []);
  await database.query('INSERT INTO storing_files (id, name) VALUES ($1, $2)', [id, name ?? null]);
  const renew = () => database.query('UPDATE storing_files SET renewed_at = now() WHERE id = $1', [id]);
  // A renewal that fails is followed by the next one.
  const timer = setInterval(() => inBackground(renew().catch(() => undefined)), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // It ends by itself where the database is away.
    await database.query('DELETE FROM storing_files WHERE id = $1', [id]).catch(() => undefined);
  }
}

/** Read it before the rows: what is not announced by then has its row. */
export async function announcedFiles(database: Sql): Promise<AnnouncedFiles> {
  const rows = await database.query<{ name: string | null }>(`SELECT name FROM storing_files WHERE ${IS_LIVE}`, []);
  const names = new Set(rows.map(({ name }) => name));
  return { has: (name) => names.has(null) || names.has(name) };
}
