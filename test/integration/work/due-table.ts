import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { WorkKind } from '../../../src/work/work-kind.js';

interface ParcelKey {
  readonly hauler_id: string;
  readonly id: string;
}

export interface Parcel extends ParcelKey {
  readonly weight: number;
}

export interface ParcelState extends Parcel {
  readonly connection_id: string;
  readonly due_at: Date | null;
  readonly started_at: Date | null;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly done_by: string[];
}

/**
 * The SQL here is about a table of the tests' own, not about one of the product.
 * Describes the due rows of a table as a room would have one, with a key of two columns.
 */
export const PARCELS = {
  name: 'parcels',
  table: 'parcels',
  key: { hauler_id: 'uuid', id: 'uuid' },
  columns: ['weight'],
  where: 'NOT paused',
  lane: { by: 'connection_id', type: 'text', concurrency: 100 },
  concurrency: 4,
  backoff: { firstMs: 60_000, factor: 2, maxMs: 3_600_000, jitter: 0 },
} as const satisfies Omit<WorkKind<Parcel>, 'run'>;

export const HAULER = randomUUID();

export async function createParcels(dataSource: DataSource): Promise<void> {
  await dataSource.query(`
    CREATE TABLE parcels (
      hauler_id uuid NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid(), connection_id text NOT NULL DEFAULT 'a',
      weight integer NOT NULL DEFAULT 0, paused boolean NOT NULL DEFAULT false, done_by text[] NOT NULL DEFAULT '{}',
      due_at timestamptz, started_at timestamptz, attempts integer NOT NULL DEFAULT 0,
      last_error text, PRIMARY KEY (hauler_id, id));
    CREATE INDEX parcels_due ON parcels (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX parcels_group ON parcels (connection_id, weight) WHERE due_at IS NOT NULL;
    CREATE TABLE lanes (kind text, lane text, owner uuid, since timestamptz, owned_until timestamptz, PRIMARY KEY (kind, lane));
    CREATE TABLE hauler_moves (hauler_id uuid PRIMARY KEY, state text NOT NULL)`);
}

/** Adds rows that are due, each a millisecond later than the one before; answers their ids. */
export async function addParcels(
  dataSource: DataSource,
  count: number,
  { connection = 'a', dueInMs = -3_600_000, weight = 0 } = {},
): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>(
    `WITH added AS (
       INSERT INTO parcels (hauler_id, connection_id, weight, due_at)
       SELECT $1, $2, $5 + n, now() + $4::float8 * interval '1 ms' + n * interval '1 ms' FROM generate_series(1, $3::int) AS n
       RETURNING id, due_at)
     SELECT id FROM added ORDER BY due_at`,
    [HAULER, connection, count, dueInMs, weight],
  );
  return rows.map(({ id }) => id);
}

export async function parcel(dataSource: DataSource, id: string): Promise<ParcelState> {
  const [row] = await dataSource.query<ParcelState[]>('SELECT * FROM parcels WHERE id = $1', [id]);
  if (row === undefined) throw new Error(`there is no parcel ${id}`);
  return row;
}
