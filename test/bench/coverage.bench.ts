import { startDatabase, type BenchDatabase } from './database.js';
import { type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';

const MONTH_SECONDS = 31 * 86_400;
const AT_ONCE = 10;

interface Shape {
  readonly name: string;
  readonly cameras: number;
  /** Each recording is longer than the distance to the next one by this factor. */
  readonly overlap: number;
  readonly status: string;
}

const SHAPES: readonly Shape[] = [
  { name: 'one camera', cameras: 1, overlap: 1, status: `'stored'` },
  {
    name: 'four cameras',
    cameras: 4,
    overlap: 1,
    status: `CASE n % 97 WHEN 0 THEN 'expired' WHEN 1 THEN 'available' ELSE 'stored' END`,
  },
  {
    name: 'eight cameras that overlap',
    cameras: 8,
    overlap: 1.5,
    status: `CASE n % 2 WHEN 0 THEN 'expired' ELSE 'stored' END`,
  },
];

/**
 * The coverage of 31 days of one truck, by buckets: alone, and ten at once, of the same time and of different resolutions.
 * Arguments: recordings (1000000), repeats (5).
 */
export async function run([recordings = '1000000', repeats = '5']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
  const connection = {
    haulerId,
    interface: 'vision',
    baseUrl: 'https://partner.invalid',
    apiKey: 'none',
    customerId: 'c',
    enabled: false,
  };
  const { id } = await service.admin<{ id: string }>('POST', '/connections', connection);
  const rows: Row[] = [
    [
      'shape',
      'one, median ms',
      'slowest',
      'ten at once, slowest ms',
      'refused',
      'ten resolutions, slowest ms',
      'refused',
    ],
  ];
  for (const shape of SHAPES) {
    await seed(database, haulerId, id, shape, Number(recordings));
    const alone: number[] = [];
    for (let i = 0; i <= Number(repeats); i++) {
      const [milliseconds = 0] = await ask(service, id, shape.name, [3_600]);
      // The first one fills the caches.
      if (i > 0) alone.push(milliseconds);
    }
    const same = await ask(
      service,
      id,
      shape.name,
      Array.from({ length: AT_ONCE }, () => 7_200),
    );
    const others = await ask(
      service,
      id,
      shape.name,
      Array.from({ length: AT_ONCE }, (_, i) => 10_800 + i * 600),
    );
    const slowest = (all: readonly number[]) => Math.max(...all.filter((time) => !Number.isNaN(time)));
    const refused = (all: readonly number[]) => all.filter(Number.isNaN).length;
    rows.push([
      shape.name,
      median(alone),
      slowest(alone),
      slowest(same),
      refused(same),
      slowest(others),
      refused(others),
    ]);
  }
  report('coverage', rows);
}

async function seed(
  { client }: BenchDatabase,
  haulerId: string,
  id: string,
  shape: Shape,
  count: number,
): Promise<void> {
  const { name, cameras, overlap, status } = shape;
  const perCamera = Math.floor(count / cameras);
  const step = MONTH_SECONDS / perCamera;
  await client.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, stored_at, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', n::text, 'c', $3, 'camera ' || camera, at, at + $4::float8 * interval '1 second',
       $4, ${status}, at, CASE WHEN ${status} = 'stored' THEN at END, at, at
     FROM generate_series(1, ${cameras}) AS camera, generate_series(0, ${perCamera - 1}) AS n,
       LATERAL (SELECT timestamptz '2026-01-01T00:00:00Z' + n * $5::float8 * interval '1 second' AS at) AS times`,
    [haulerId, id, name, step * overlap, step],
  );
  await client.query('VACUUM ANALYZE recordings');
}

/** Milliseconds of each answer; NaN for a refusal. All are asked for at once. */
function ask(
  service: Service,
  connectionId: string,
  truckId: string,
  resolutions: readonly number[],
): Promise<number[]> {
  return Promise.all(
    resolutions.map(async (resolution) => {
      const query = { connectionId, truckId, from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
      const begun = performance.now();
      const path = `/coverage?${new URLSearchParams({ ...query, resolution: String(resolution) }).toString()}`;
      try {
        const response = await service.call('GET', path);
        await response.arrayBuffer();
        return performance.now() - begun;
      } catch {
        return NaN;
      }
    }),
  );
}
