import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { VisionFindings } from '../../src/vision/client/findings.repository.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { connectVision } from '../support/vision-partner.js';

const MAX = 10_000;

interface Connection {
  readonly haulerId: string;
  readonly id: string;
}

let app: TestApp;
let connection: Connection;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  connection = await connectVision(app, 'https://partner.example');
});

const sweep = () => app.app.get(VisionFindings).deleteOld();

/** Stores findings with these numbers as digests; `seen` is the SQL of the time at which finding `i` was last seen. */
const find = ({ haulerId, id }: Connection, [from, to]: readonly [number, number], seen: string) =>
  app.dataSource.query(
    `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)
     SELECT $1, $2, i, 'data.items[0].truckId', 'is missing', now() - interval '200 days', ${seen}
     FROM generate_series($3::integer, $4::integer) i`,
    [haulerId, id, from, to],
  );

async function kept({ id }: Connection): Promise<{ count: number; first: number; last: number }> {
  const [row] = await app.dataSource.query<[{ count: number; first: number; last: number }]>(
    `SELECT count(*)::integer AS count, min(digest::integer) AS first, max(digest::integer) AS last
     FROM vision_findings WHERE connection_id = $1`,
    [id],
  );
  return row;
}

test('findings that were not seen for 90 days are deleted, others stay, however old', async () => {
  await find(connection, [1, 3], "now() - interval '90 days 1 minute'");
  await find(connection, [4, 5], "now() - interval '89 days 23 hours'");
  expect(await sweep()).toBe(3);
  expect(await kept(connection)).toEqual({ count: 2, first: 4, last: 5 });
});

test('a connection keeps its 10,000 last seen findings, whatever another connection has', async () => {
  const other = await connectVision(app, 'https://partner.example');
  await find(connection, [1, MAX + 2_500], "now() - interval '1 day' + i * interval '1 microsecond'");
  await find(other, [1, MAX], "now() - interval '2 days'");
  expect(await sweep()).toBe(2_500);
  expect(await kept(connection)).toEqual({ count: MAX, first: 2_501, last: MAX + 2_500 });
  expect(await kept(other)).toMatchObject({ count: MAX });
});

test('a connection keeps 10,000 findings that were seen at the same moment', async () => {
  await find(connection, [1, MAX + 60], 'now()');
  expect(await sweep()).toBe(60);
  expect(await kept(connection)).toMatchObject({ count: MAX });
});

test('the findings of a deleted connection are deleted too', async () => {
  await find(connection, [1, 3], "now() - interval '91 days'");
  await app.dataSource.query('UPDATE connections SET deleted_at = now() WHERE id = $1', [connection.id]);
  expect(await sweep()).toBe(3);
});

test('several instances at once delete no more than one would', async () => {
  await find(connection, [1, MAX + 3_000], "now() - i * interval '1 second'");
  const gone = await Promise.all([sweep(), sweep(), sweep()]);
  expect(gone.reduce((sum, count) => sum + count)).toBe(3_000);
  expect(await kept(connection)).toEqual({ count: MAX, first: 1, last: MAX });
});

test('a finding that another transaction has locked is left for the next time', async () => {
  await find(connection, [1, 2], "now() - interval '91 days'");
  await app.dataSource.transaction(async (manager) => {
    const seen = "UPDATE vision_findings SET last_seen_at = now() WHERE connection_id = $1 AND digest = '1'";
    await manager.query(seen, [connection.id]);
    expect(await sweep()).toBe(1);
  });
  expect(await sweep()).toBe(0);
  expect(await kept(connection)).toEqual({ count: 1, first: 1, last: 1 });
});
