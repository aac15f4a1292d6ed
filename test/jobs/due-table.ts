import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { JobKind } from '../../src/jobs/job-kind.js';

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
  readonly leased_until: Date | null;
  readonly lease_token: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly done_by: string[];
}

/** Describes the due rows of a table as a room would have one, with a key of two columns. */
export const PARCELS = {
  name: 'parcels',
  table: 'parcels',
  key: { hauler_id: 'uuid', id: 'uuid' },
  columns: ['weight'],
  where: 'NOT paused',
  concurrency: 4,
  leaseMs: 400,
  backoff: { firstMs: 60_000, factor: 2, maxMs: 3_600_000, jitter: 0 },
} as const satisfies Omit<JobKind<Parcel>, 'run'>;

export const HAULER = randomUUID();

export async function createParcels(dataSource: DataSource): Promise<void> {
  await dataSource.query(`
    CREATE TABLE parcels (
      hauler_id uuid NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid(), connection_id text NOT NULL DEFAULT 'a',
      weight integer NOT NULL DEFAULT 0, paused boolean NOT NULL DEFAULT false, done_by text[] NOT NULL DEFAULT '{}',
      due_at timestamptz, leased_until timestamptz, lease_token uuid, attempts integer NOT NULL DEFAULT 0,
      last_error text, PRIMARY KEY (hauler_id, id));
    CREATE INDEX parcels_due ON parcels (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX parcels_order ON parcels (weight) WHERE due_at IS NOT NULL AND leased_until IS NULL;
    CREATE INDEX parcels_group ON parcels (connection_id, weight) WHERE due_at IS NOT NULL;
    CREATE INDEX parcels_leased ON parcels (leased_until) WHERE leased_until IS NOT NULL`);
}

/** Rows of one statement, which on a busy machine may take long. */
const AT_ONCE = 20_000;

/** Adds rows that are due, each a millisecond later than the one before; answers their ids. */
export async function addParcels(
  dataSource: DataSource,
  count: number,
  { connection = 'a', dueInMs = -3_600_000, weight = 0 } = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 1; first <= count; first += AT_ONCE) {
    const rows = await dataSource.query<{ id: string }[]>(
      `WITH added AS (
         INSERT INTO parcels (hauler_id, connection_id, weight, due_at)
         SELECT $1, $2, $6 + n, now() + $5::float8 * interval '1 ms' + n * interval '1 ms'
           FROM generate_series($3::int, $4::int) AS n
         RETURNING id, due_at)
       SELECT id FROM added ORDER BY due_at`,
      [HAULER, connection, first, Math.min(first + AT_ONCE - 1, count), dueInMs, weight],
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

export async function parcel(dataSource: DataSource, id: string): Promise<ParcelState> {
  const [row] = await dataSource.query<ParcelState[]>('SELECT * FROM parcels WHERE id = $1', [id]);
  if (row === undefined) throw new Error(`there is no parcel ${id}`);
  return row;
}
