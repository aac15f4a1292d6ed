import { randomBytes } from 'node:crypto';
import { type CommandEnv, readCommandEnv } from '../config/command-env.js';
import { parseStorageUrl } from '../config/storage-url.js';
import { EnvError } from '../config/parse.js';
import { MIGRATIONS } from '../database/migrations.js';
import { thisRelease } from '../database/release.js';
import { recordRelease } from '../database/schema.repository.js';
import type { Session } from '../database/session.js';
import { storeOutboundStop } from '../outbound/outbound-stop.repository.js';
import { fingerprintOf, type Manifest } from './archive-format.js';
import { archivePlace, type ArchivePlace } from './archive-place.js';
import { checkArchive } from './archive-reader.js';
import { BackupError, DamagedArchiveError } from './backup-error.js';
import { recordVerification } from './verification.repository.js';
import { requiredKey, withDatabase } from './command-database.js';
import { createBackup } from './create-backup.js';
import { enterSchema, lockMigrations, relationsIn } from './empty-schema.repository.js';
import { backupPool, inOneTransaction, loadArchive } from './load-archive.js';
import type { Progress } from './progress.js';
import { assertRestorable, count } from './schema-rules.js';
import { checkVideos, type VideoDifferences } from './video-check.js';

/** What a command prints with `--json`; `sentence` is for people. */
export interface CommandResult {
  readonly sentence: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The command has found something wrong. */
  readonly failure?: string;
}

export interface CommandContext {
  /** The environment; that of the process by default. */
  readonly source?: NodeJS.ProcessEnv | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Writes an archive of the database to a file or an object. */
export async function backup({ to }: { readonly to: string }, context: CommandContext): Promise<CommandResult> {
  const { progress, signal } = context;
  const env = readCommandEnv(undefined, context.source);
  const secretsKey = requiredKey(env);
  return withPlace(to, '--to', (place) =>
    withDatabase(env, async (databaseUrl) => {
      const pool = backupPool(databaseUrl);
      try {
        return await pool.transaction(
          async (session) => {
            let manifest: Manifest | undefined;
            const chunks = async function* (): AsyncGenerator<Buffer> {
              const input = { session, secretsKey, progress };
              manifest = yield* createBackup(input);
            };
            const bytes = await place.write(chunks(), signal);
            if (manifest === undefined) throw new TypeError('the archive has no manifest');
            return written(to, bytes, manifest);
          },
          { attempts: 1, settings: { transaction_isolation: 'repeatable read', transaction_read_only: 'on' } },
        );
      } finally {
        await pool.close();
      }
    }),
  );
}

export interface RestoreOptions {
  readonly from: string;
  readonly database?: string;
  readonly videos?: string;
  readonly checksums?: boolean;
}

/** Fills an empty database with an archive. Nothing is written before the archive and the database were checked. */
export async function restore(options: RestoreOptions, { source, progress }: CommandContext): Promise<CommandResult> {
  const env = readCommandEnv(options.database, source);
  if (options.videos !== undefined) assertStorageUrl(options.videos);
  return withPlace(options.from, '--from', async (place) => {
    const manifest = await readManifest(place, options.from, env, progress);
    await withDatabase(
      env,
      (databaseUrl) =>
        inOneTransaction(databaseUrl, async (session) => {
          await lockMigrations(session);
          const found = await relationsIn(session);
          if (found.length > 0)
            throw new BackupError(
              `the database is not empty (it has ${found.join(', ')}${found.length === 3 ? ' and more' : ''}): restore into a new one, as by createdb`,
            );
          await loadArchive(session, { place, manifest, progress, rereads: false });
          await recordRelease(session, thisRelease());
          await storeOutboundStop(session, `restored from a backup of ${manifest.createdAt}`);
        }),
      { creates: true },
    );
    const restored = `restored ${summaryOf(manifest)}, partners are not called until cli outbound set --enabled`;
    if (options.videos === undefined) return { sentence: restored, details: detailsOf(manifest) };
    const input = { place, manifest, progress, storageUrl: options.videos, comparesSums: options.checksums === true };
    const videos = await checkVideos(input);
    if (videos.missing + videos.differing > 0)
      throw new BackupError(`${restored}; ${differences(videos, options.videos)}`);
    return {
      sentence: `${restored}; ${count(videos.files, 'video')} found in ${options.videos}`,
      details: { ...detailsOf(manifest), videos },
    };
  });
}

/** Restores an archive into a schema that disappears at the end, compares it with the archive, and records the time. */
export async function verify(
  { from }: { readonly from: string },
  { source, progress }: CommandContext,
): Promise<CommandResult> {
  const env = readCommandEnv(undefined, source);
  return withPlace(from, '--from', async (place) => {
    const manifest = await readManifest(place, from, env, progress);
    await withDatabase(env, async (databaseUrl) => {
      const schema = `haulbridge_verify_${randomBytes(4).toString('hex')}`;
      const load = async (session: Session) => {
        await enterSchema(session, schema);
        await loadArchive(session, { place, manifest, progress, rereads: true, schema });
        throw new VerifiedSignal();
      };
      await inOneTransaction(databaseUrl, load).catch((error: unknown) => {
        if (!(error instanceof VerifiedSignal)) throw error;
      });
      const pool = backupPool(databaseUrl);
      try {
        await recordVerification(pool, manifest.createdAt);
      } finally {
        await pool.close();
      }
    });
    return { sentence: `verified ${summaryOf(manifest)}`, details: detailsOf(manifest) };
  });
}

/** Rolls the transaction of a verification back, so that nothing of it remains. */
class VerifiedSignal extends Error {}

export async function withPlace<T>(
  address: string,
  option: string,
  work: (place: ArchivePlace) => Promise<T>,
): Promise<T> {
  const place = await archivePlace(address, option);
  try {
    return await work(place);
  } finally {
    place.close();
  }
}

async function readManifest(place: ArchivePlace, from: string, env: CommandEnv, progress: Progress): Promise<Manifest> {
  const manifest = await readArchive(place, from, progress);
  if (manifest.hauler !== undefined)
    throw new BackupError(
      `it is the archive of the hauler ${manifest.hauler.name}, and not of a database: use hauler import`,
    );
  const known = MIGRATIONS.map(({ name }) => name);
  assertRestorable(manifest, known, fingerprintOf(requiredKey(env)));
  return manifest;
}

/** Reads the whole archive and compares its sums. */
export async function readArchive(place: ArchivePlace, from: string, progress: Progress): Promise<Manifest> {
  progress.begin(`reads ${from}`);
  let bytes = 0;
  return checkArchive(place.read(), (more) => {
    bytes += more;
    progress.report(`read ${megabytes(bytes)}`);
  }).catch((error: unknown) => {
    throw error instanceof DamagedArchiveError ? new BackupError(`--from ${from}: ${error.message}`) : error;
  });
}

function assertStorageUrl(url: string): void {
  try {
    parseStorageUrl(url);
  } catch (error) {
    throw error instanceof EnvError ? new BackupError(`--videos ${error.message}`) : error;
  }
}

const rowsOf = ({ tables }: Manifest): number => tables.reduce((sum, { rows }) => sum + rows, 0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const summaryOf = (manifest: Manifest): string =>
  `the backup of ${manifest.createdAt}: ${count(manifest.tables.length, 'table')}, ${count(rowsOf(manifest), 'row')}`;

const written = (to: string, bytes: number, manifest: Manifest): CommandResult => ({
  sentence: `wrote ${to} (${megabytes(bytes)}): ${count(manifest.tables.length, 'table')}, ${count(rowsOf(manifest), 'row')}; copy ${count(manifest.videos.files, 'video')} (${megabytes(manifest.videos.totalBytes)}) separately`,
  details: { ...detailsOf(manifest), bytes },
});

const detailsOf = (manifest: Manifest): Record<string, unknown> => ({
  createdAt: manifest.createdAt,
  serviceVersion: manifest.serviceVersion,
  tables: manifest.tables.length,
  rows: rowsOf(manifest),
  videos: { files: manifest.videos.files, totalBytes: manifest.videos.totalBytes },
});

const differences = ({ files, missing, differing, names }: VideoDifferences, where: string): string =>
  `of ${count(files, 'video')}, ${missing} are missing in ${where} and ${differing} differ (${names.join(', ')}${missing + differing > names.length ? ' and more' : ''}): copy them there`;
