import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOSTED_SITE_DATA_MAX_BYTES } from '../../../src/contracts/admin/hosted.dto.js';
import { type DemoCamera, demoRecording } from '../../../src/demo/demo-data.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  answerOf,
  answerOf as answer,
  commandsBeside,
  runCommand,
  runCommand as run,
} from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';
import { kiosk, site, siteData } from '../../support/site-data.js';
import { accepts, inHours, POST, startVisionPartner, type VisionPartner } from '../../support/scripted-vision.js';
import { connectVision } from '../../support/vision-partner.js';

let service: TestApp;
let partner: VisionPartner;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
  partner.on(POST, accepts());
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
  await partner.stop();
});

test('a clip is requested and listed', async () => {
  const { id: connectionId } = await connectVision(service, partner.url);
  const words = ['--connection-id', connectionId, '--truck-id', 'T1', '--camera-id', 'front'];
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:35:00Z'];
  const { id } = await answer<{ id: string }>('video-request', 'create', ...words, ...range);
  const list = await answer('video-request', 'list', '--truck-id', 'T1');
  expect(list).toMatchObject({ data: [{ id, truckId: 'T1' }], pagination: { totalItems: 1 } });
  expect(await answer('video-request', 'show', id)).toMatchObject({ id, parts: [{ number: 1 }] });
});

test('a range that ends before it starts is a wrong call', async () => {
  const { id } = await connectVision(service, partner.url);
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:25:00Z'];
  const more = ['--connection-id', id, '--truck-id', 'T1', '--camera-id', 'front'];
  expect(await run('video-request', 'create', ...more, ...range)).toMatchObject({
    code: 2,
    err: 'error: --end-time must be after --start-time\n',
  });
});

test('recordings are listed, and old ones are counted without deleting', async () => {
  expect(await answer('recording', 'list', '--status', 'stored')).toMatchObject({ data: [] });
  expect(await run('recording', 'show', randomUUID())).toMatchObject({ code: 1, out: '' });
  expect(await answer('retention', 'run', '--dry-run')).toEqual({ recordings: 0, bytes: 0 });
});

describe('video-subscription', () => {
  const api = async (path: string) => (await service.admin('GET', path)).body;
  let connectionId: string;
  let id: string;
  beforeAll(async () => {
    ({ id: connectionId } = await connectVision(service, partner.url));
    const words = ['--connection-id', connectionId, '--truck-id', 'T2', '--camera-id', 'rear'];
    // A start in the future: no read changes the subscription during the test.
    const more = ['--start-time', inHours(1), '--interval-seconds', '60'];
    ({ id } = await answer<{ id: string }>('video-subscription', 'create', ...words, ...more));
    await answer('video-subscription', 'change', id, '--enabled', 'false');
  });

  test('list, show and change return what the admin API does', async () => {
    const shown = await answer('video-subscription', 'show', id);
    expect(shown).toMatchObject({ id, connectionId, truckId: 'T2', cameraId: 'rear', enabled: false });
    expect(shown).toEqual(await api(`/video-subscriptions/${id}`));
    const list = await answer('video-subscription', 'list', '--connection-id', connectionId, '--truck-id', 'T2');
    expect(list).toMatchObject({ data: [shown], pagination: { totalItems: 1 } });
    const none = await answer('video-subscription', 'list', '--connection-id', connectionId, '--truck-id', 'T3');
    expect(none).toMatchObject({ data: [] });
    const changed = await answer('video-subscription', 'change', id, '--interval-seconds', '90');
    expect(changed).toMatchObject({ id, intervalSeconds: 90, enabled: false });
  });

  test('end deletes a subscription once', async () => {
    const words = ['--connection-id', connectionId, '--truck-id', 'T4', '--start-time', inHours(1)];
    const { id: other } = await answer<{ id: string }>('video-subscription', 'create', ...words);
    expect(await run('video-subscription', 'end', other)).toEqual({ code: 0, out: '', err: '' });
    for (const word of ['end', 'show', 'change']) {
      expect(await run('video-subscription', word, other)).toMatchObject({ code: 1, out: '' });
    }
  });

  test.each([
    ['--interval-seconds must be a whole number from 30 to 86400', '--interval-seconds', 'often'],
    ['--enabled must be true or false', '--enabled', 'perhaps'],
  ])('%s', async (sentence, ...words) => {
    const outcome = await run('video-subscription', 'change', id, ...words);
    expect(outcome).toEqual({ code: 2, out: '', err: `error: ${sentence}\n` });
  });

  test('coverage show returns what the admin API does', async () => {
    const [from, to] = [inHours(-3), inHours(-1)];
    const words = [
      '--connection-id',
      connectionId,
      '--truck-id',
      'T2',
      '--camera-id',
      'rear',
      '--from',
      from,
      '--to',
      to,
    ];
    const coverage = await answer<{ data: object[] }>('coverage', 'show', ...words);
    expect(coverage.data).toMatchObject([{ cameraId: 'rear', state: 'missing' }]);
    const query = new URLSearchParams({ connectionId, truckId: 'T2', cameraId: 'rear', from, to });
    expect(coverage).toEqual(await api(`/coverage?${query.toString()}`));
    expect(await run('coverage', 'show', ...words, '--to', from)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: --to must be /),
    });
  });

  test('vision-finding list filters by connection, hauler and time', async () => {
    const { haulerId, id: ofOthers } = await connectVision(service, partner.url);
    await service.dataSource.query(
      `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)
       VALUES ($1, $2, '\\xff', 'data.recordings[0]', 'is wrong', '2026-01-31T08:30:00Z', now())`,
      [haulerId, ofOthers],
    );
    const list = (...words: string[]) => answer<{ data: object[] }>('vision-finding', 'list', ...words);
    const found = await list('--connection-id', ofOthers);
    expect(found.data).toMatchObject([{ connectionId: ofOthers, path: 'data.recordings[0]', seen: 1 }]);
    expect(found).toEqual(await api(`/vision-findings?connectionId=${ofOthers}`));
    const filters: [number, string[]][] = [
      [1, ['--hauler-id', haulerId, '--from', '2026-01-31T08:30:00Z', '--to', '2026-01-31T08:30:01Z']],
      [0, ['--connection-id', connectionId]],
      [0, ['--to', '2026-01-31T08:30:00Z']],
    ];
    for (const [count, words] of filters) expect([words, (await list(...words)).data.length]).toEqual([words, count]);
  });
});

describe('the partner side', () => {
  test('hosted-camera set replaces the aliases of a camera', async () => {
    const camera = { customerId: 'C', truckId: 'T8', cameraId: 'front' };
    const words = ['hosted-camera', 'set', '--customer-id', 'C', '--truck-id', 'T8', '--camera-id', 'front'];
    const aliases = ['1', 'Front, left'];
    expect(await answer(...words, '--aliases', ...aliases)).toEqual({ ...camera, aliases });
    expect(await answer(...words, '--aliases', '')).toEqual({ ...camera, aliases: [] });
    expect(await run(...words)).toMatchObject({ code: 2, err: expect.stringContaining('--aliases') });
    expect(await run(...words, '--aliases', ' ')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: --aliases/),
    });
  });

  test('hosted-video-request list filters by status', async () => {
    await service.dataSource.query(
      `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status)
       VALUES (gen_random_uuid(), 'C', 'T8', 'front', now(), now(), 'failed')`,
    );
    const list = await answer<{ data: object[] }>('hosted-video-request', 'list', '--status', 'failed');
    expect(list.data).toMatchObject([{ customerId: 'C', status: 'failed' }]);
    expect(list).toEqual((await service.admin('GET', '/hosted/video-requests?status=failed')).body);
    expect(await answer('hosted-video-request', 'list', '--status', 'ready')).toMatchObject({ data: [] });
    expect(await run('hosted-video-request', 'list', '--status', 'stored')).toMatchObject({ code: 2, out: '' });
  });

  test('hosted-site-data replace reads a file, and changes nothing if a record is invalid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'haulbridge-site-data-'));
    const file = join(folder, 'data.json');
    const haulerId = randomUUID();
    const replace = (...words: string[]) => run('hosted-site-data', 'replace', ...words, '--json');
    try {
      writeFileSync(file, JSON.stringify(siteData(1, 2, 3)));
      const { code, out } = await replace(file, '--hauler-id', haulerId);
      expect([code, JSON.parse(out)]).toEqual([0, { haulerId, sites: 1, kiosks: 2, materials: 3, active: 6 }]);
      writeFileSync(file, JSON.stringify({ sites: [site('a', { name: 7 })], kiosks: [kiosk('k', 'b')] }));
      expect(await replace(file, '--hauler-id', haulerId)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/^error: sites\[0\]\.name must .*; kiosks\[0\]\.siteId must /),
      });
      const [stored] = await service.dataSource.query<{ n: number }[]>(
        'SELECT count(*)::int AS n FROM reference_site_data WHERE hauler_id = $1',
        [haulerId],
      );
      expect(stored).toEqual({ n: 1 });
      expect(await replace(file, '--hauler-id', 'x')).toMatchObject({
        code: 2,
        err: expect.stringContaining('--hauler-id must be a UUID'),
      });
      truncateSync(file, HOSTED_SITE_DATA_MAX_BYTES + 1);
      const failures: [string, string, number, string][] = [
        [file, haulerId, 1, 'is larger than 268435456 bytes'],
        [folder, haulerId, 1, 'cannot be read: it is not a file'],
        [join(folder, 'missing'), haulerId, 1, 'cannot be read: ENOENT'],
      ];
      for (const [path, id, exit, sentence] of failures) {
        const outcome = await replace(path, '--hauler-id', id);
        expect(outcome).toMatchObject({ code: exit, out: '', err: expect.stringContaining(sentence) });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const CAMERA = ['--customer-id', 'C', '--truck-id', 'T9', '--camera-id', 'front'];

/** A recording of one minute. */
const addRecording = (file: string, camera: DemoCamera = 'front') =>
  copyFileSync(demoRecording(camera, new Date(0)), join(folder, file));
const addOtherFile = (file: string) => writeFileSync(join(folder, file), 'not a recording');

interface Row {
  readonly file: string;
  readonly result: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly reason?: string;
}

const importing = (...more: string[]) => ['recording', 'import', folder, ...CAMERA, ...more];

async function failedImport(...more: string[]): Promise<{ err: string; data: Row[] }> {
  const { code, out, err } = await runCommand(...importing(...more), '--json');
  expect(code).toBe(1);
  return { err, data: (JSON.parse(out) as { data: Row[] }).data };
}

/** The files of the folder that this process has open; only Linux lists them. */
function openFiles(): string[] {
  if (process.platform !== 'linux') return [];
  const paths = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

test('a folder is imported in sequence, and again without effect', async () => {
  addRecording('2026-01-31T08-30-00Z.mp4');
  addRecording('b.mp4', 'rear');
  const first = {
    file: '2026-01-31T08-30-00Z.mp4',
    startTime: '2026-01-31T08:30:00Z',
    endTime: '2026-01-31T08:31:00Z',
  };
  const second = { file: 'b.mp4', startTime: '2026-01-31T08:31:00Z', endTime: '2026-01-31T08:32:00Z' };
  const data = [first, second];
  expect(await answerOf(...importing())).toEqual({ data: data.map((row) => ({ ...row, result: 'imported' })) });
  const reason = expect.stringContaining('a recording that starts at');
  expect(await answerOf(...importing())).toEqual({ data: data.map((row) => ({ ...row, result: 'known', reason })) });
  await eventually(() => expect(openFiles()).toEqual([]));
});

test('a file that cannot be imported is reported with its reason, and the others are imported', async () => {
  addRecording('2026-02-31T08-32-00Z.mp4');
  addRecording('2026-03-01T08-30-00Z.mp4');
  addRecording('2026-03-01T08-31-00Z-b.mp4');
  addOtherFile('2026-03-01T08-31-00Z.mp4');
  addRecording('20260301T083200Z.mp4');
  const { err, data } = await failedImport();
  expect(err).toBe(
    'error: 2026-02-31T08-32-00Z.mp4, 2026-03-01T08-31-00Z.mp4 cannot be imported: see the reasons in the table\n',
  );
  expect(data.map(({ file, result }) => `${file} ${result}`)).toEqual([
    '2026-02-31T08-32-00Z.mp4 refused',
    '2026-03-01T08-30-00Z.mp4 imported',
    '2026-03-01T08-31-00Z-b.mp4 imported',
    '2026-03-01T08-31-00Z.mp4 refused',
    '20260301T083200Z.mp4 imported',
  ]);
  expect(data[0]?.reason).toBe('its name contains no real time: 2026-02-31T08:32:00Z');
  expect(data[3]?.reason).toMatch(/MP4/);
});

test('a file after an unreadable one has no start time', async () => {
  addOtherFile('a.mp4');
  addRecording('b.mp4');
  const { data } = await failedImport('--start-time', '2026-04-01T00:00:00Z');
  const refused = { file: 'b.mp4', result: 'refused', reason: expect.stringContaining('has no start time') };
  expect(data).toMatchObject([{ file: 'a.mp4', result: 'refused' }, refused]);
});

test('files before the first one with a start time are refused, and the others are imported', async () => {
  for (const file of ['0.mp4', '1.mp4', '2026-07-01T08-30-00Z.mp4']) addRecording(file);
  const { data } = await failedImport();
  expect(data.map(({ result }) => result)).toEqual(['refused', 'refused', 'imported']);
});

test('the import ends at the first failure of the service', async () => {
  for (const file of ['a.mp4', 'b.mp4']) addRecording(file);
  const { err, data } = await failedImport('--start-time', '2026-05-01T00:00:00Z', '--url', 'http://127.0.0.1:1');
  expect(err).toMatch(/^error: the import ended at a\.mp4: connection refused by http:\/\/127\.0\.0\.1:1/);
  expect(data).toMatchObject([{ file: 'a.mp4', result: 'refused' }]);
  await eventually(() => expect(openFiles()).toEqual([]));
});

test('wrong names of the camera are reported once, by their options', async () => {
  for (const file of ['2026-06-01T08-30-00Z.mp4', '2026-06-01T08-31-00Z.mp4']) addRecording(file);
  const must = 'must be text that is not blank, of 1 to 255 characters';
  const wrong = ['--customer-id', '', '--truck-id', 'x'.repeat(256), '--camera-id', ''];
  expect(await runCommand('recording', 'import', folder, ...wrong)).toEqual({
    code: 2,
    out: '',
    err: 'error: --customer-id MUST; --truck-id MUST; --camera-id MUST\n'.replaceAll('MUST', must),
  });
});

test('a folder without a start time needs --start-time', async () => {
  expect(await runCommand(...importing())).toMatchObject({ code: 1, err: expect.stringContaining('no .mp4 file') });
  const missing = ['recording', 'import', join(folder, 'missing'), ...CAMERA];
  const err = expect.stringContaining('cannot be read as a folder: ENOENT');
  expect(await runCommand(...missing)).toMatchObject({ code: 1, err });
  addRecording('a.mp4');
  expect(await runCommand(...importing())).toMatchObject({ code: 1, err: expect.stringContaining('--start-time') });
  expect(await runCommand(...importing('--start-time', 'yesterday'))).toEqual({
    code: 2,
    out: '',
    err: 'error: --start-time must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z\n',
  });
  const startTime = '2026-02-01T00:00:00Z';
  const data = [expect.objectContaining({ result: 'imported', startTime })];
  expect(await answerOf(...importing('--start-time', startTime))).toEqual({ data });
});
