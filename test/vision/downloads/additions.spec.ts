import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Recording } from '../../../src/contracts/vision/vision.dto.js';
import { inTransaction } from '../../../src/database/transaction.js';
import type { VisionConnection } from '../../../src/vision/client/vision-connections.service.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { connectVision } from '../../support/vision-partner.js';
import { RecordingsRepository } from '../../../src/vision/recordings/recordings.repository.js';

let service: TestApp;
// The partner side downloads nothing, so that only this test writes the rows.
beforeAll(async () => void (service = await startTestApp({ env: { SIDES: new Set(['partner']) } })));
afterAll(() => service.close());

const chunk = (minute: number): Recording => ({
  id: `chunk-${minute}`,
  customerId: 'customer-1',
  truckId: 'TRUCK-7',
  cameraId: 'front',
  startTime: `2026-01-31T08:0${minute}:00.000000Z`,
  endTime: `2026-01-31T08:0${minute + 1}:00.000000Z`,
  durationSeconds: 60,
  downloadUrl: `https://video.example.com/${minute}`,
});

test('a new recording and the end of a download on the same day do not deadlock', async () => {
  const connection = (await connectVision(service, 'http://127.0.0.1:1')) as VisionConnection;
  const store = new RecordingsRepository();
  let tries = 0;
  const add = (...chunks: Recording[]): Promise<number> =>
    inTransaction(service.dataSource, (manager) => {
      tries++;
      return store.addChunks(manager, connection, chunks);
    });
  await add(chunk(1));

  const download = service.dataSource.createQueryRunner();
  await download.startTransaction();
  // The UPDATE locks the row before it writes the counter of the day.
  await download.query("SELECT 1 FROM recordings WHERE partner_recording_id = 'chunk-1' FOR UPDATE");
  const added = add({ ...chunk(1), endTime: chunk(2).endTime }, chunk(3));
  await eventually(async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    expect(await service.dataSource.query(waiting)).toHaveLength(1);
  });
  await download.query("UPDATE recordings SET status = 'failed' WHERE partner_recording_id = 'chunk-1'");
  await download.commitTransaction();
  await download.release();
  expect(await added).toBe(1);
  expect(tries).toBe(2);
  const counted = `SELECT status, sum(rows)::int AS rows FROM recording_days WHERE rows > 0 GROUP BY status ORDER BY status`;
  expect(await service.dataSource.query(counted)).toEqual([
    { status: 'available', rows: 1 },
    { status: 'failed', rows: 1 },
  ]);
});
