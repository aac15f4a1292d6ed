import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '../../src/core/database/migrate.js';
import { storageName } from '../../src/core/storage/storage-names.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { commandsBeside, runCommand } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../support/reference-vision.js';
import { ScaleHouse } from '../support/scale-house.js';
import { binaries, startSystemPostgres } from './system-postgres.js';
import { testServer, databaseUrl, onServer } from '../support/test-run.js';
import { CONTINUOUS, element, inHours, lists, startVisionPartner } from '../support/scripted-vision.js';
import { connectVision } from '../support/vision-partner.js';

interface Findings {
  readonly examined: number;
  readonly data: readonly {
    readonly finding: string;
    readonly table: string;
    readonly id: string;
    readonly file: string;
  }[];
}

async function doctor(...words: string[]): Promise<{ code: number; err: string; found: Findings }> {
  const { code, out, err } = await runCommand('storage', 'check', '--json', ...words);
  return { code, err, found: JSON.parse(out) as Findings };
}

const videosOf = (service: TestApp) => join(service.env.DATA_DIR, 'videos');

describe('storage check compares storage and database', () => {
  let service: TestApp;
  let leave: () => void;
  let stopPartner: () => Promise<void>;
  const ids = { recordings: '', clips: '', fetched: '' };
  beforeAll(async () => {
    service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
    leave = commandsBeside(service);
    for (const minute of [0, 1, 2]) ids.recordings = (await upload(service, minute)).body.id;
    ids.clips = await preparedClip();
    const partner = await startVisionPartner();
    stopPartner = () => partner.stop();
    const chunk = element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl: partner.link(demoVideo(0)) });
    partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    const { id: connectionId } = await connectVision(service, partner.url);
    await service.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-3) });
    await eventually(async () => {
      const { body } = await service.admin<{ data: { id: string }[] }>('GET', '/recordings?status=stored');
      expect(body.data).toHaveLength(1);
      ids.fetched = body.data[0]?.id ?? '';
    });
  });
  afterAll(async () => {
    leave();
    await stopPartner();
    await service.close();
  });

  async function preparedClip(): Promise<string> {
    const { key } = await issueKey(service, ['vision']);
    const call = (method: string, path: string, body?: unknown) =>
      service.call<{ requestId: string; data: { videos: { id: string }[] } }>(method, path, {
        headers: { 'API-KEY': key },
        body,
      });
    const range = { startTime: at(0), endTime: at(0.5) };
    const camera = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front' };
    const asked = await call('POST', '/video-platform/v1/videos/requests', { ...camera, ...range });
    const list = `/video-platform/v1/videos?customerId=${CUSTOMER}&requestId=${asked.body.requestId}`;
    return eventually(async () => {
      const { body } = await call('GET', list);
      expect(body.data.videos).toHaveLength(1);
      return body.data.videos[0]?.id ?? '';
    });
  }

  const fileOf = (folder: string, id: string) => join(videosOf(service), storageName(folder, id));

  test('and reports no fault and changes nothing if they agree', async () => {
    const state = () => readdirSync(videosOf(service), { recursive: true, encoding: 'utf8' }).sort();
    const before = state();
    const { code, err, found } = await doctor('--checksums');
    expect([code, err, found.data]).toEqual([0, '', []]);
    expect(found.examined).toBe(10);
    expect(await runCommand('storage', 'check')).toEqual({
      code: 0,
      out: 'storage and database agree: examined 10 rows and files\n',
      err: '',
    });
    expect(state()).toEqual(before);
  });

  test.each([
    ['reference_recordings', 'reference-recordings', 'recordings'],
    ['reference_clips', 'reference-clips', 'clips'],
    ['recordings', 'recordings', 'fetched'],
  ] as const)('%s: a file that was lost, cut short or changed is named', async (table, folder, which) => {
    const file = fileOf(folder, ids[which]);
    const bytes = readFileSync(file);
    const fault = { table, id: ids[which], file: storageName(folder, ids[which]), message: expect.any(String) };
    renameSync(file, `${file}.aside`);
    const lost = await doctor();
    expect([lost.code, lost.found.data]).toEqual([1, [{ finding: 'file-lost', ...fault }]]);
    expect(lost.err).toBe('error: 1 difference between storage and database\n');
    writeFileSync(file, bytes.subarray(0, -1));
    expect((await doctor()).found.data).toEqual([{ finding: 'file-differs', ...fault }]);
    writeFileSync(file, Buffer.from(bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte))));
    expect((await doctor()).found.data).toEqual([]);
    expect((await doctor('--checksums')).found.data).toEqual([{ finding: 'file-differs', ...fault }]);
    renameSync(`${file}.aside`, file);
    expect((await doctor('--checksums')).code).toBe(0);
  });

  test.each([
    ['reference_recordings', 'reference-recordings', 'recordings'],
    ['reference_clips', 'reference-clips', 'clips'],
    ['recordings', 'recordings', 'fetched'],
  ] as const)('%s: a row that was lost is named once its file is old enough', async (table, folder, which) => {
    const id = ids[which];
    const file = fileOf(folder, id);
    const aside = `aside_${table}`;
    await service.dataSource.query(`CREATE TABLE ${aside} AS SELECT * FROM ${table} WHERE id = '${id}'`);
    await service.dataSource.query(`DELETE FROM ${table} WHERE id = '${id}'`);
    try {
      expect((await doctor()).found.data).toEqual([]);
      const { mtime } = statSync(file);
      utimesSync(file, mtime, new Date(Date.now() - 3_600_000));
      const { code, found } = await doctor();
      expect([code, found.data]).toEqual([
        1,
        [{ finding: 'row-lost', table, id, file: storageName(folder, id), message: expect.any(String) }],
      ]);
    } finally {
      await service.dataSource.query(`INSERT INTO ${table} SELECT * FROM ${aside}`);
      await service.dataSource.query(`DROP TABLE ${aside}`);
    }
    expect((await doctor()).code).toBe(0);
  });
});

/** A scale house that pushes until `stop` is called. Acknowledged ids by ticket number. */
function pushing(house: ScaleHouse) {
  const acknowledged = new Map<string, string>();
  let running = true;
  let n = 0;
  const workers = Array.from({ length: 4 }, async () => {
    while (running) {
      const number = `B${n++}`;
      const inboundFlow = { ticketNumber: number, updatedAt: '2026-01-31T08:30:00Z' };
      const { status, body } = await house.push(house.ticket({ inboundFlow }));
      if (status === 200) acknowledged.set(number, body.disposalTicketId);
    }
  });
  const stop = async () => {
    running = false;
    await Promise.all(workers);
  };
  return { acknowledged, stop };
}

const PAUSE_MS = 3_000;

/** A busy machine may not have acknowledged anything before. */
async function wait({ acknowledged }: ReturnType<typeof pushing>): Promise<void> {
  const before = acknowledged.size;
  await delay(PAUSE_MS);
  await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 10));
}

/** A service on a restored database has every push that was acknowledged before the backup once, and accepts more. */
async function expectConsistent(url: string, house: ScaleHouse, before: ReadonlyMap<string, string>): Promise<void> {
  const restored = await startTestApp({ env: { DATABASE_URL: url } });
  try {
    const rows = await restored.dataSource.query<{ id: string; number: string; revisions: number }[]>(
      `SELECT t.id, t.inbound_number AS number, count(r.*)::int AS revisions
       FROM tickets AS t LEFT JOIN ticket_revisions AS r ON (r.hauler_id, r.ticket_id) = (t.hauler_id, t.id)
       GROUP BY t.id, t.inbound_number`,
    );
    const stored = new Map(rows.map(({ id, number }) => [number, id]));
    expect(stored.size).toBe(rows.length);
    expect([...before].filter(([number, id]) => stored.get(number) !== id)).toEqual([]);
    expect(rows.filter(({ revisions }) => revisions !== 1)).toEqual([]);
    const inboundFlow = { ticketNumber: 'B0', updatedAt: '2026-01-31T08:30:00Z' };
    const again = await house.push(house.ticket({ inboundFlow }), {}, restored);
    expect([again.status, again.headers.get('ticket-result')]).toEqual([200, 'unchanged']);
    expect((await restored.call('GET', '/health/ready')).status).toBe(200);
  } finally {
    await restored.close();
  }
}

/** By the file of `deploy/backup`, which keeps the newest ones alone; returns the newest. */
async function dump(url: string): Promise<string> {
  const folder = join(testServer().folder, 'dumps');
  mkdirSync(folder);
  for (const day of ['01', '02']) writeFileSync(join(folder, `haulbridge-202601${day}T013000Z.dump`), '');
  const env = { PATH: `${binaries()}:${process.env['PATH']}`, DATABASE_URL: url, KEEP: '2' };
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, '../../deploy/backup/pg-dump.sh'), [folder], {
    env,
  });
  const file = stdout.trim();
  expect(readdirSync(folder).sort()).toEqual(['haulbridge-20260102T013000Z.dump', basename(file)]);
  return file;
}

test('pg_dump under load restores to a consistent service', async () => {
  const postgres = await startSystemPostgres();
  try {
    const [original, restored] = ['original', 'restored'].map((name) => databaseUrl(postgres.url, name)) as [
      string,
      string,
    ];
    await onServer(postgres.url, (client) => client.query('CREATE DATABASE original'));
    await onServer(postgres.url, (client) => client.query('CREATE DATABASE restored'));
    await migrate(original);
    const service = await startTestApp({ env: { DATABASE_URL: original } });
    const house = await ScaleHouse.open(service);
    const load = pushing(house);
    try {
      await wait(load);
      const before = new Map(load.acknowledged);
      const file = await dump(original);
      await wait(load);
      await load.stop();
      postgres.run('pg_restore', ['--exit-on-error', '--no-owner', `--dbname=${restored}`, file]);
      await expectConsistent(restored, house, before);
      expect(before.size).toBeGreaterThan(10);
      reportFigures('pg_dump', { version: postgres.version, 'tickets acknowledged before': before.size, lost: 0 });
    } finally {
      await load.stop();
      await service.close();
    }
  } finally {
    await postgres.stop();
  }
}, 120_000);
