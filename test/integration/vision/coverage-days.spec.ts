import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { SumCoverageByDay1795680000000 } from '../../../migrations/1795680000000-sum-coverage-by-day.js';
import { deleteRecording } from '../../../src/admin/erasures/footage-erasure.repository.js';
import type { Recording, Video } from '../../../src/contracts/vision/vision.dto.js';
import { inTransaction } from '../../../src/database/transaction.js';
import { CoverageBuckets } from '../../../src/vision/coverage/coverage-sums.repository.js';
import { FleetSums } from '../../../src/vision/coverage/fleet-sums.repository.js';
import {
  DownloadRepository,
  RECORDING_COLUMNS,
  type RecordingRow,
} from '../../../src/vision/downloads/download.repository.js';
import { DownloadRetryRepository } from '../../../src/vision/downloads/download-retry.repository.js';
import { CoverageDaysCheck } from '../../../src/vision/recordings/coverage-days.job.js';
import { correctDay } from '../../../src/vision/recordings/coverage-days-check.repository.js';
import type { RecordingState } from '../../../src/vision/recordings/recording.rules.js';
import { RecordingsRepository } from '../../../src/vision/recordings/recordings.repository.js';
import { lockRemovable, markDeleted, storeRetention } from '../../../src/vision/recordings/retention.repository.js';
import { DueRows } from '../../../src/work/due-rows.repository.js';
import { Run } from '../../../src/work/run.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { videoConnection } from '../../support/held-footage.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const FIRST = Date.parse('2026-01-30T00:00:00Z');
const DAYS = ['2026-01-29', '2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02', '2026-02-03'];
const STEPS = 80;
const KEY = { hauler_id: 'uuid', id: 'uuid', start_time: 'timestamptz' } as const;

const service = <T>(type: abstract new (...args: never[]) => T): T => app.app.get<T>(type, { strict: false });

type Row = RecordingRow & { readonly started: string; readonly start: string };

/** Operations of random times on the recordings of a connection, as the service writes them. */
class Scene {
  private seed: number;
  private readonly listed: Recording[] = [];

  constructor(
    seed: number,
    readonly haulerId: string,
    readonly connectionId: string,
  ) {
    this.seed = seed;
  }

  random(max: number): number {
    return (this.seed = (this.seed * 48_271) % 2_147_483_647) % max;
  }

  pick<T>(all: readonly [T, ...T[]]): T {
    return all[this.random(all.length)] ?? all[0];
  }

  /** Of seconds from the start; also before and after midnight, and some longer than an hour. */
  chunk(): Recording {
    const old = this.listed[this.random(Math.max(1, this.listed.length))];
    const isOld = old !== undefined && this.random(3) === 0;
    const start = isOld
      ? Date.parse(old.startTime) + this.pick([0, 0, 500, -300])
      : FIRST + this.random(4 * 1_440) * 60_000 + this.pick([0, 0, 0, 123]);
    const length =
      this.random(12) === 0 ? 4_000_000 + this.random(90_000) * 1_000 : this.pick([60_000, 60_000, 59_500]);
    const chunk: Recording = {
      ...{ id: isOld ? old.id : randomUUID(), customerId: 'customer', truckId: this.pick(['T1', 'T2']) },
      ...{ cameraId: this.pick(['front', 'front', 'rear', 'Front']), durationSeconds: Math.round(length / 1000) },
      ...{ startTime: instant(start), endTime: instant(start + length) },
      downloadUrl: `https://partner.example/${this.random(1_000)}.mp4`,
      expiresAt: instant(Date.now() + this.random(10_000_000)),
    };
    this.listed.push(chunk);
    return chunk;
  }

  async list(): Promise<void> {
    const connection = { haulerId: this.haulerId, id: this.connectionId } as never;
    const chunks = Array.from({ length: 1 + this.random(8) }, () => this.chunk());
    await inTransaction(app.dataSource, (manager) =>
      service(RecordingsRepository).addChunks(manager, connection, chunks),
    );
  }

  async clips(): Promise<void> {
    const camera = { haulerId: this.haulerId, connectionId: this.connectionId, truckId: 'T3', cameraId: 'front' };
    const part = { ...camera, id: randomUUID(), partnerRequestId: null };
    const clip = { ...this.chunk(), truckId: 'T3', requestId: 'r' } as Video;
    await inTransaction(app.dataSource, (manager) => service(RecordingsRepository).addClips(manager, part, [clip]));
  }

  /** A random one of these states; undefined if there is none. */
  async any(statuses: readonly RecordingState[]): Promise<Row | undefined> {
    const rows = await app.dataSource.query<Row[]>(
      `SELECT hauler_id, id, start_time::text AS start, ${RECORDING_COLUMNS.join(', ')} FROM recordings
       WHERE connection_id = $1 AND part_id IS NULL AND status = ANY ($2) ORDER BY id`,
      [this.connectionId, statuses],
    );
    return rows[this.random(Math.max(1, rows.length))];
  }

  async download(status: RecordingState): Promise<void> {
    const found = await this.any(['available']);
    if (found === undefined) return;
    const [[{ at }]] = await app.dataSource.query<[[{ at: string }], number]>(
      'UPDATE recordings SET started_at = now() WHERE id = $1 RETURNING started_at::text AS at',
      [found.id],
    );
    const rows = new DueRows(app.dataSource, {
      ...{ name: 'test', table: 'recordings', key: KEY, concurrency: 1 },
      ...{ lane: { by: 'connection_id', type: 'uuid', concurrency: 1 }, run: () => Promise.resolve('done') },
    });
    const key = [found.hauler_id, found.id, found.start];
    const started = { row: found, key, lane: this.connectionId, startedAt: at, attempt: 1 };
    const run = new Run<RecordingRow>(rows, started, new AbortController().signal);
    const file = { size_bytes: 1, sha256: '0'.repeat(64), stored_at: new Date(Date.now() - 3 * 86_400_000) };
    await service(DownloadRepository).finish(run, found, status, 'done', status === 'stored' ? file : { reason: 'x' });
  }

  async step(): Promise<void> {
    const retry = service(DownloadRetryRepository);
    switch (this.random(14)) {
      case 0:
        return this.clips();
      case 1:
      case 2:
        return this.download('failed');
      case 3:
        return this.download('expired');
      case 4:
        await retry.retry((await this.any(['failed', 'expired']))?.id ?? randomUUID());
        return;
      case 5:
        await retry.refetch((await this.any(['stored']))?.id ?? randomUUID());
        return;
      case 6:
        if (this.random(3) === 0) await retry.retryAll({ connectionId: this.connectionId, truckId: 'T1' });
        return;
      case 7: {
        const old = await this.any(['stored']);
        if (old === undefined) return;
        const rows = [{ ...old, size_bytes: '1', days: 1, is_due: true }];
        await inTransaction(app.dataSource, async (manager) => {
          const removable = await lockRemovable(manager, rows);
          expect(removable).toEqual(rows);
          await markDeleted(manager, removable, () => 'old');
        });
        return;
      }
      case 8: {
        const row = await this.any(['stored', 'expired', 'failed', 'available']);
        if (row !== undefined) await inTransaction(app.dataSource, (manager) => deleteRecording(manager, row));
        return;
      }
      case 9:
      case 10:
      case 11:
        return this.download('stored');
      default:
        return this.list();
    }
  }
}

const instant = (ms: number): string => new Date(ms).toISOString();

const differences = async (): Promise<number> => {
  let sum = 0;
  for (const day of DAYS) sum += await correctDay(app.dataSource, day);
  return sum;
};

async function scene(seed: number): Promise<Scene> {
  const { haulerId, connectionId } = await videoConnection(app);
  await storeRetention(app.dataSource, haulerId, { onDemandDays: 1, continuousDays: 1 }, 'test');
  return new Scene(seed, haulerId, connectionId);
}

describe('the sums of coverage by day', () => {
  test.each([[7], [4_711]])('are those of the recordings after each of many random writes (seed %s)', async (seed) => {
    const random = await scene(seed);
    const { connectionId } = random;
    const cameras = ['T1', 'T2', 'T3'].flatMap((truckId) =>
      ['front', 'rear', 'Front'].map((name) => ({ connectionId, truckId, names: [name] })),
    );
    const grid = { originMs: FIRST, stepMs: 86_400_000, fromMs: FIRST, toMs: FIRST + 4 * 86_400_000 };
    for (let i = 0; i < STEPS; i++) {
      await random.step();
      expect([i, await differences()]).toEqual([i, 0]);
    }
    const summed = await service(FleetSums).of(cameras, grid);
    const read = await service(CoverageBuckets).of(cameras, grid);
    summed.forEach((sums, i) => expect(sums ?? read[i]).toEqual(read[i]));
    // The migration counts the same.
    await inTransaction(app.dataSource, async ({ queryRunner }) => {
      const migration = new SumCoverageByDay1795680000000();
      await migration.down(queryRunner as QueryRunner);
      await migration.up(queryRunner as QueryRunner);
    });
    expect(await differences()).toBe(0);
  });

  test('are what the fleet is answered from, also for a zone of whole hours', async () => {
    const random = await scene(1);
    const { haulerId, connectionId } = random;
    const chunks = [0, 1, 2].map((i) => ({
      ...random.chunk(),
      ...{ truckId: 'T1', cameraId: 'front', id: `chunk ${i}` },
      ...{ startTime: instant(FIRST + i * 1_800_000), endTime: instant(FIRST + (i + 1) * 1_800_000) },
    }));
    const connection = { haulerId, id: connectionId } as never;
    await inTransaction(app.dataSource, (manager) =>
      service(RecordingsRepository).addChunks(manager, connection, chunks),
    );
    const stored = async (zone: string, from: number) => {
      const query = new URLSearchParams({ haulerId, zone, from: instant(from), to: instant(from + 86_400_000) });
      const { body } = await app.admin<{ data: { days: { available: number }[] }[] }>(
        'GET',
        `/coverage/fleet?${query.toString()}`,
      );
      return body.data.flatMap(({ days }) => days.map(({ available }) => available));
    };
    const all = [await stored('UTC', FIRST), await stored('America/Chicago', FIRST - 18 * 3_600_000)];
    expect(all).toEqual([[5_400], [5_400]]);
    expect(await stored('Asia/Kolkata', FIRST - 5.5 * 3_600_000)).toEqual([5_400]);
    // What the sums say is shown where they can be used.
    await app.dataSource.query('UPDATE coverage_days SET milliseconds[25] = 1000 WHERE connection_id = $1', [
      connectionId,
    ]);
    expect(await stored('UTC', FIRST)).toEqual([1 + 1_800]);
    expect(await stored('Asia/Kolkata', FIRST - 5.5 * 3_600_000)).toEqual([5_400]);
    // The night puts it right.
    expect(await service(CoverageDaysCheck).run(FIRST + 86_400_000)).toBe(1);
    expect(await stored('UTC', FIRST)).toEqual([5_400]);
    expect(await service(CoverageDaysCheck).run(FIRST + 86_400_000)).toBe(0);
  });

  test('are used again when the recording that shared time with others is gone', async () => {
    const random = await scene(2);
    const { haulerId, connectionId } = random;
    const listed = [0, 1].map((i) => ({
      ...random.chunk(),
      ...{ truckId: 'T1', cameraId: 'front', id: `chunk ${i}` },
      ...{ startTime: instant(FIRST + i * 60_000), endTime: instant(FIRST + i * 60_000 + 120_000) },
    }));
    const connection = { haulerId, id: connectionId } as never;
    await inTransaction(app.dataSource, (manager) =>
      service(RecordingsRepository).addChunks(manager, connection, listed),
    );
    const shared = async () =>
      (
        await app.dataSource.query<{ is_shared: boolean }[]>(
          'SELECT is_shared FROM coverage_days WHERE connection_id = $1',
          [connectionId],
        )
      ).map((row) => row.is_shared);
    const night = () => service(CoverageDaysCheck).run(FIRST + 20 * 86_400_000);
    await night();
    expect(await shared()).toEqual([true]);
    const [second] = await app.dataSource.query<{ hauler_id: string; id: string }[]>(
      'SELECT hauler_id, id FROM recordings WHERE connection_id = $1 ORDER BY start_time DESC LIMIT 1',
      [connectionId],
    );
    if (second !== undefined) await inTransaction(app.dataSource, (manager) => deleteRecording(manager, second));
    expect(await shared()).toEqual([true]);
    await night();
    expect(await shared()).toEqual([false]);
  });
});
