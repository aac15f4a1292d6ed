import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { Recording } from '../../src/contracts/vision/vision.dto.js';
import { inTransaction } from '../../src/database/transaction.js';
import { readElements } from '../../src/vision/client/read-elements.js';
import { RecordingStore } from '../../src/vision/downloads/recording.store.js';
import { VisionConnections } from '../../src/vision/vision-connections.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { connectVision, element, type Element, inHours } from '../support/vision-partner.js';

const CHUNKS = 1_000;
const expiresAt = inHours(8);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { SIDES: new Set(['partner']) } });
  // Nothing tells of the table until a test does.
  await app.dataSource.query('ALTER TABLE recordings SET (autovacuum_enabled = false)');
});
afterAll(() => app.close());

const chunksOf = (fields: (n: number) => Element) => {
  const elements = Array.from({ length: CHUNKS }, (_, n) => {
    const [startTime, endTime] = [n, n + 1].map((at) => new Date(Date.UTC(2026, 0, 31) + at * 5_000).toISOString());
    return element({
      startTime,
      endTime,
      durationSeconds: 5,
      downloadUrl: 'https://video.example/x',
      expiresAt,
      ...fields(n),
    });
  });
  return readElements(Recording, elements, 'data', 'customer-1').items;
};

/** Rows that this session has read of the table, whichever way, and has not reported yet: none of them in a transaction. */
async function rowsRead(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<[{ rows: number }]>(
    `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
     WHERE relname = 'recordings'`,
  );
  return row.rows;
}

test.each<[string, string | undefined]>([
  ['without statistics of the table', undefined],
  ['with them', 'ANALYZE recordings'],
])('chunks that are listed again are looked up each by itself, %s', async (_, first) => {
  const { id } = await connectVision(app, 'https://partner.example');
  const connection = await new VisionConnections(app.dataSource).find(id);
  if (connection === undefined) throw new Error('there is no connection');
  const store = new RecordingStore();
  const add = (chunks: readonly Recording[]) =>
    inTransaction(app.dataSource, async (manager) => {
      const before = await rowsRead(manager);
      const added = await store.addChunks(manager, connection, chunks);
      return { added, rows: (await rowsRead(manager)) - before };
    });
  const byId = chunksOf((n) => ({ id: `chunk-${n}` }));
  expect(await add(byId)).toMatchObject({ added: CHUNKS });
  if (first !== undefined) await app.dataSource.query(first);
  const again = await add(byId);
  expect(again.added).toBe(0);
  expect(again.rows).toBeLessThan(10 * CHUNKS);
  const byRange = await add(chunksOf((n) => ({ id: `other-${n}` })));
  expect(byRange.added).toBe(0);
  expect(byRange.rows).toBeLessThan(10 * CHUNKS);
});
