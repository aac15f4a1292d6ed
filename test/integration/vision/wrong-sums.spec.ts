import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StorageCheck, StorageRepair } from '../../../src/contracts/admin/storage.dto.js';
import type { TruckCoverage } from '../../../src/contracts/admin/coverage.dto.js';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';
import { PARTITIONED } from '../../../src/database/partitions.rules.js';
import { doctor } from '../../../src/backup/doctor.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { run } from '../../support/backup-scene.js';
import { commandsBeside, runCommand } from '../../support/command-line.js';
import { insertFootage, videoConnection } from '../../support/held-footage.js';

let app: TestApp;
let leave: () => void;
let owner: { haulerId: string; connectionId: string };
beforeAll(async () => {
  app = await startTestApp({ env: { VIDEO_RETENTION_DAYS: 30 } });
  leave = commandsBeside(app);
  owner = await videoConnection(app);
});
afterAll(async () => {
  leave();
  await app.close();
});

const STARTED = Date.now();
const dayAgo = (days: number) => new Date(STARTED - days * 86_400_000).toISOString().slice(0, 10);
const OLD = dayAgo(40);

/** Half an hour of two cameras at 8, which no sums count: as an older version wrote it. */
async function footage(truckId: string, day: string, storedDays = 0): Promise<void> {
  const planner = app.app.get(PartitionPlanner);
  await planner.plan();
  await planner.ensure(PARTITIONED.recordings, [Date.parse(day)]);
  const times = { start: `${day}T08:00:00Z`, end: `${day}T08:30:00Z` };
  const row = { ...owner, ...times, truckId, storedDays };
  await insertFootage(app, [row, { ...row, cameraId: 'rear' }]);
}

const check = async () => {
  const { code, out, err } = await runCommand('storage', 'check', '--json');
  const { sums, data } = JSON.parse(out) as StorageCheck;
  expect(data).toEqual([]);
  return { code, err, days: sums.map(({ truckId, day, message }) => `${truckId} ${day}: ${message}`) };
};
const repair = async (...words: string[]) => {
  const { code, out } = await runCommand('storage', 'check', '--repair', '--json', ...words);
  const { sums, sumsCorrected } = JSON.parse(out) as StorageRepair;
  return [code, sums.length, sumsCorrected];
};
/** Stored seconds of the day 40 days ago, by truck: of the view of the fleet, and of the views of the trucks. */
const fleet = async () => {
  const range = `haulerId=${owner.haulerId}&from=${dayAgo(42)}T00:00:00Z&to=${dayAgo(38)}T00:00:00Z`;
  const { body } = await app.admin<{ data: TruckCoverage[] }>('GET', `/coverage/fleet?${range}`);
  return Object.fromEntries(
    body.data.map(({ truckId, days }) => [truckId, days.find(({ day }) => day === OLD)?.stored]),
  );
};
const truck = async (truckId: string) => {
  const range = `connectionId=${owner.connectionId}&truckId=${truckId}&from=${OLD}T00:00:00Z&to=${dayAgo(39)}T00:00:00Z`;
  const { body } = await app.admin<{ data: { stored: number }[] }>('GET', `/coverage?${range}&resolution=86400`);
  return body.data.reduce((sum, { stored }) => sum + stored, 0);
};
const doctorLine = async () => {
  const outcome = await run((context) => doctor(context), app.env.DATABASE_URL ?? '', {
    STORAGE_URL: app.env.STORAGE_URL,
  });
  if ('failure' in outcome) throw new Error(outcome.failure);
  const checks = outcome.result.details['checks'] as { name: string; ok: boolean; text: string }[];
  return checks.find(({ name }) => name === 'sums by day');
};

describe('sums by day that are not those of the recordings', () => {
  test('are found where an older version wrote none, are lost or are false, and are corrected by a repair alone', async () => {
    for (const truckId of ['T1', 'T2', 'T3']) for (const ago of [39, 40, 41]) await footage(truckId, dayAgo(ago));
    const lost = 'the recordings of front, rear have 3600 s, and there are no sums';
    const all = ['T1', 'T2', 'T3'].flatMap((name) => [41, 40, 39].map((ago) => `${name} ${dayAgo(ago)}: ${lost}`));
    expect((await check()).days).toEqual(all);
    expect(await fleet()).toEqual({ T1: 3_600, T2: 3_600, T3: 3_600 });
    expect(await repair()).toEqual([0, 9, 9]);
    expect(await check()).toEqual({ code: 0, err: '', days: [] });

    await app.dataSource.query("DELETE FROM coverage_days WHERE day = $1 AND truck_id = 'T1'", [OLD]);
    await app.dataSource.query(
      "UPDATE coverage_days SET milliseconds[9] = 60000 WHERE day = $1 AND truck_id = 'T2' AND camera_id = 'rear'",
      [OLD],
    );
    await app.dataSource.query(
      "UPDATE coverage_days SET milliseconds = milliseconds[25:96] || milliseconds[1:24] WHERE day = $1 AND truck_id = 'T3'",
      [OLD],
    );
    // What is lost is read from the recordings; what is false cannot be known.
    expect(await fleet()).toEqual({ T1: 3_600, T2: 1_860, T3: 0 });
    expect([await truck('T1'), await truck('T2'), await truck('T3')]).toEqual([3_600, 3_600, 3_600]);
    const found = [
      `T1 ${OLD}: ${lost}`,
      `T2 ${OLD}: the recordings of rear have 1800 s, the sums 60 s`,
      `T3 ${OLD}: the recordings of front, rear have 3600 s, the sums have them in other states or hours, or do not say that recordings share time`,
    ];
    expect(await check()).toEqual({
      code: 1,
      err: 'error: the sums of 3 days of trucks differ from the recordings: run storage check --repair\n',
      days: found,
    });
    const { out } = await runCommand('storage', 'check');
    for (const name of ['T1', 'T2', 'T3'])
      expect(out).toMatch(new RegExp(`^${OLD} +${name} +${owner.connectionId}`, 'm'));
    expect(await doctorLine()).toEqual({
      name: 'sums by day',
      ok: false,
      text: 'trucks compared with the recordings: 3; days that differ: 3: run storage check --repair while the service runs',
    });

    expect(await repair('--dry-run')).toEqual([0, 3, 3]);
    expect((await check()).days).toEqual(found);
    expect((await runCommand('doctor', '--repair')).out).toContain('sums of 3 days of trucks corrected');
    expect(await fleet()).toEqual({ T1: 3_600, T2: 3_600, T3: 3_600 });
    expect([await check(), await repair()]).toEqual([{ code: 0, err: '', days: [] }, [0, 0, 0]]);
    expect(await doctorLine()).toMatchObject({
      ok: true,
      text: 'trucks compared with the recordings: 3; none differs',
    });
  });

  test('are not known of a month that was dropped: what it still has stays as it is', async () => {
    const now = new Date();
    const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 24, 15)).toISOString().slice(0, 10);
    await footage('T9', day, 31);
    await repair();
    const [kept] = await app.dataSource.query<object[]>("SELECT * FROM coverage_days WHERE truck_id = 'T9'");
    await app.app.get(Retention, { strict: false }).run();
    const name = `recordings_${day.slice(0, 7).replace('-', '')}`;
    expect(await app.dataSource.query('SELECT to_regclass($1) AS month', [name])).toEqual([{ month: null }]);
    expect((await check()).days).toEqual([]);
    await app.dataSource.query(
      'INSERT INTO coverage_days SELECT * FROM json_populate_record(NULL::coverage_days, $1)',
      [JSON.stringify({ ...kept, day })],
    );
    expect([(await check()).days, await repair()]).toEqual([[], [0, 0, 0]]);
    expect(await app.dataSource.query("SELECT * FROM coverage_days WHERE truck_id = 'T9'")).toEqual([kept]);
  });
});
