import { createHmac } from 'node:crypto';
import { basename } from 'node:path';

/** Raise it with any change after which an earlier release cannot read the archive. 1: of a database. 2: of one hauler. */
export const DATABASE_FORMAT = 1;
export const HAULER_FORMAT = 2;

/** The first entry, by which a reader recognises the format. */
export const MARK_ENTRY = 'haulbridge-backup.json';
export const MANIFEST_ENTRY = 'manifest.json';
/** The last entry: a line for `sha256sum --check`. */
export const MANIFEST_SUM_ENTRY = 'manifest.json.sha256';

/** The stored bytes of one stream: its parts, one after the other. */
export interface StreamSum {
  readonly parts: number;
  /** Of the parts together. */
  readonly bytes: number;
  /** Of the parts together, in hex. */
  readonly sha256: string;
}

export interface Partition {
  readonly name: string;
  /** As PostgreSQL writes it: `FOR VALUES FROM (…) TO (…)`. */
  readonly bound: string;
}

/** A table as the catalog of the database describes it. */
export interface TableShape {
  readonly name: string;
  /** In the order of the table, without generated ones. */
  readonly columns: readonly string[];
  readonly partitions: readonly Partition[];
}

/** The content of a table, without the order of its rows. */
export interface TableContent {
  readonly rows: number;
  readonly rowsSum: string;
}

export interface ArchivedTable extends TableShape, TableContent, StreamSum {}

export interface Sequence {
  readonly name: string;
  /** The last value that was given out. A text, because it may be beyond 2^53. */
  readonly lastValue: string;
}

/** `manifest.json` of an archive. */
export interface Manifest {
  readonly formatVersion: number;
  readonly serviceVersion: string;
  /** When the snapshot was taken, by the clock of the database. */
  readonly createdAt: string;
  readonly databaseVersion: string;
  /** Names of the applied migrations, oldest first. */
  readonly migrations: readonly string[];
  readonly secretsKeyFingerprint: string;
  readonly tables: readonly ArchivedTable[];
  readonly sequences: readonly Sequence[];
  readonly videos: VideosSummary;
  /** Of the archive of one hauler. */
  readonly hauler?: ArchivedHauler;
}

export interface ArchivedHauler extends HaulerOrigin {
  readonly files: FilesSummary;
}

export interface HaulerOrigin {
  readonly id: string;
  readonly name: string;
  /** Null for a service without cells. */
  readonly cell: string | null;
  /** A fingerprint of STORAGE_URL. */
  readonly storage: string;
}

/** The contents of the videos, one after the other, in the order of their list. */
export interface FilesSummary extends StreamSum {
  /** Videos whose file was gone, or had another content. */
  readonly lost: number;
  /** The first of them. */
  readonly lostNames: readonly string[];
}

export interface VideosSummary extends StreamSum {
  readonly files: number;
  readonly totalBytes: number;
}

/** A line of the stream `videos`. */
export interface ArchivedVideo {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  /** In the archive of a hauler: its file was gone, and the archive has no bytes of it. */
  readonly lost?: true;
}

export const VIDEOS_FOLDER = 'videos';
export const FILES_FOLDER = 'files';

export const tableFolder = (table: string): string => `data/${table}`;

export const partName = (folder: string, part: number): string => `${folder}/${String(part).padStart(6, '0')}.zst`;

/** The folder of a part; undefined for another entry. */
export const folderOf = (name: string): string | undefined => /^(.+)\/\d{6}\.zst$/.exec(name)?.[1];

export const markOf = (version: number): Buffer =>
  Buffer.from(`${JSON.stringify({ format: 'haulbridge-backup', version })}\n`);

/** Two keys are equal if their fingerprints are. The key cannot be computed from it. */
export const fingerprintOf = (secretsKey: Buffer): string =>
  createHmac('sha256', secretsKey).update('haulbridge backup').digest('hex').slice(0, 32);

export const sumLine = (sha256: string): string => `${sha256}  ${basename(MANIFEST_ENTRY)}\n`;
