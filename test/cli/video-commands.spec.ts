import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOSTED_SITE_DATA_MAX_BYTES } from '../../src/contracts/admin/hosted-site-data.dto.js';
import { demoRecording } from '../../src/demo/demo-recordings.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { kiosk, site, siteData } from '../support/site-data.js';
import {
  accepts,
  connectVision,
  inHours,
  POST,
  startVisionPartner,
  type VisionPartner,
} from '../support/vision-partner.js';

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

test('a range that ends before it starts is wrong usage', async () => {
  const { id } = await connectVision(service, partner.url);
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:25:00Z'];
  const more = ['--connection-id', id, '--truck-id', 'T1', '--camera-id', 'front'];
  expect(await run('video-request', 'create', ...more, ...range)).toMatchObject({
    code: 2,
    err: 'error: --end-time must be after --start-time\n',
  });
});

test('recordings are listed, and old ones counted without deleting', async () => {
  expect(await answer('recording', 'list', '--status', 'stored')).toMatchObject({ data: [] });
  expect(await run('recording', 'show', randomUUID())).toMatchObject({ code: 1, out: '' });
  expect(await answer('retention', 'run', '--dry-run')).toEqual({ recordings: 0, bytes: 0 });
});

describe('what is followed', () => {
  const api = async (path: string) => (await service.admin('GET', path)).body;
  let connectionId: string;
  let id: string;
  beforeAll(async () => {
    ({ id: connectionId } = await connectVision(service, partner.url));
    const words = ['--connection-id', connectionId, '--truck-id', 'T2', '--camera-id', 'rear'];
    // Of what begins later nothing is read meanwhile, which would change what is shown.
    const more = ['--start-time', inHours(1), '--interval-seconds', '60'];
    ({ id } = await answer<{ id: string }>('video-subscription', 'create', ...words, ...more));
    await answer('video-subscription', 'change', id, '--enabled', 'false');
  });

  test('a subscription is listed, shown and changed as by the admin API', async () => {
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

  test('one that has ended is gone, and ended once', async () => {
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

  test('coverage tells of every moment', async () => {
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

  test("what partners' lists had wrong is listed", async () => {
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
  test("a camera's other names are told, and that it has none", async () => {
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

  test('what was asked of it is listed', async () => {
    await service.dataSource.query(
      `INSERT INTO hosted_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status)
       VALUES (gen_random_uuid(), 'C', 'T8', 'front', now(), now(), 'failed')`,
    );
    const list = await answer<{ data: object[] }>('hosted-video-request', 'list', '--status', 'failed');
    expect(list.data).toMatchObject([{ customerId: 'C', status: 'failed' }]);
    expect(list).toEqual((await service.admin('GET', '/hosted/video-requests?status=failed')).body);
    expect(await answer('hosted-video-request', 'list', '--status', 'ready')).toMatchObject({ data: [] });
    expect(await run('hosted-video-request', 'list', '--status', 'stored')).toMatchObject({ code: 2, out: '' });
  });

  test("a hauler's data is replaced from a file; wrong records are told by their places, and change nothing", async () => {
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
        'SELECT count(*)::int AS n FROM hosted_site_data WHERE hauler_id = $1',
        [haulerId],
      );
      expect(stored).toEqual({ n: 1 });
      truncateSync(file, HOSTED_SITE_DATA_MAX_BYTES + 1);
      const failures: [string, string, number, string][] = [
        [file, haulerId, 1, 'is larger than 268435456 bytes'],
        [folder, haulerId, 1, 'cannot be read: EISDIR'],
        [join(folder, 'missing'), haulerId, 1, 'cannot be read: ENOENT'],
        [join(folder, 'missing'), 'x', 2, '--hauler-id must be a UUID'],
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

const imported = (folder: string, ...more: string[]) => [
  'recording',
  'import',
  folder,
  ...['--customer-id', 'C', '--truck-id', 'T9', '--camera-id', 'front'],
  ...more,
];

/** Of this process; only Linux tells. */
const openFiles = (): string[] =>
  process.platform !== 'linux'
    ? []
    : readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)];
        } catch {
          return [];
        }
      });

test('a folder of films is imported, each from where the one before ended, and again without harm', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  const start = new Date('2026-01-31T08:30:00Z');
  copyFileSync(demoRecording('front', start), join(folder, '2026-01-31T08-30-00Z.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, 'b.mp4'));
  try {
    const films = [
      {
        file: '2026-01-31T08-30-00Z.mp4',
        startTime: '2026-01-31T08:30:00Z',
        endTime: '2026-01-31T08:31:00Z',
      },
      { file: 'b.mp4', startTime: '2026-01-31T08:31:00Z', endTime: '2026-01-31T08:32:00Z' },
    ];
    expect(await answer(...imported(folder))).toEqual({ data: films.map((film) => ({ ...film, result: 'imported' })) });
    expect(await answer(...imported(folder))).toMatchObject({
      data: [
        { result: 'known', reason: 'camera front has a recording that starts at 2026-01-31T08:30:00Z already' },
        { result: 'known' },
      ],
    });
    await eventually(() => expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]));
    writeFileSync(join(folder, 'c.mp4'), 'no film');
    expect(await run(...imported(folder))).toMatchObject({
      code: 1,
      err: expect.stringContaining('c.mp4 cannot be imported'),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a film that cannot be imported is told with its reason, and the others are imported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  const start = new Date('2026-03-01T08:30:00Z');
  copyFileSync(demoRecording('front', start), join(folder, '2026-03-01T08-30-00Z.mp4'));
  writeFileSync(join(folder, '2026-03-01T08-31-00Z.mp4'), 'no film');
  copyFileSync(demoRecording('front', start), join(folder, '2026-03-01T08-31-00Z-b.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, '2026-03-01T08-32-00Z.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, '2026-02-31T08-32-00Z.mp4'));
  try {
    const { code, out, err } = await run(...imported(folder), '--json');
    expect(code).toBe(1);
    expect(err).toBe(
      'error: 2026-02-31T08-32-00Z.mp4, 2026-03-01T08-31-00Z.mp4 cannot be imported: the table says why\n',
    );
    const { data } = JSON.parse(out) as { data: { file: string; result: string; reason?: string }[] };
    expect(data.map(({ file, result }) => `${file} ${result}`)).toEqual([
      '2026-02-31T08-32-00Z.mp4 refused',
      '2026-03-01T08-30-00Z.mp4 imported',
      '2026-03-01T08-31-00Z-b.mp4 imported',
      '2026-03-01T08-31-00Z.mp4 refused',
      '2026-03-01T08-32-00Z.mp4 imported',
    ]);
    expect(data[0]?.reason).toBe('its name gives no real time: 2026-02-31T08:32:00Z');
    expect(data[3]?.reason).toMatch(/MP4/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a film after one that could not be read does not know when it began', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  writeFileSync(join(folder, 'a.mp4'), 'no film');
  copyFileSync(demoRecording('front', new Date(0)), join(folder, 'b.mp4'));
  try {
    const { code, out } = await run(...imported(folder, '--start-time', '2026-04-01T00:00:00Z'), '--json');
    expect(code).toBe(1);
    const refused = { file: 'b.mp4', result: 'refused', reason: expect.stringContaining('does not say when it began') };
    expect(JSON.parse(out)).toMatchObject({ data: [{ file: 'a.mp4', result: 'refused' }, refused] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a first film that does not say when it began is told like any other, and the others are imported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['0.mp4', '1.mp4', '2026-07-01T08-30-00Z.mp4'])
    copyFileSync(demoRecording('front', new Date(0)), join(folder, file));
  try {
    const { code, out, err } = await run(...imported(folder), '--json');
    expect([code, err]).toEqual([1, 'error: 0.mp4, 1.mp4 cannot be imported: the table says why\n']);
    const refused = { result: 'refused', reason: expect.stringContaining('does not say when it began') };
    const dated = { result: 'imported', startTime: '2026-07-01T08:30:00Z' };
    expect(JSON.parse(out)).toMatchObject({
      data: [{ file: '0.mp4', ...refused }, { file: '1.mp4', ...refused }, dated],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an import that the storage fails ends there, and tells of what it has come to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['a.mp4', 'b.mp4']) copyFileSync(demoRecording('front', new Date(0)), join(folder, file));
  process.env['STORAGE_URL'] = 'file:/dev/null/videos';
  try {
    const { code, out, err } = await run(...imported(folder, '--start-time', '2026-05-01T00:00:00Z'), '--json');
    expect([code, err]).toEqual([1, 'error: the import ended at a.mp4: the table says why\n']);
    const reason = 'The video storage failed: not a directory (ENOTDIR).';
    expect(JSON.parse(out)).toEqual({ data: [{ file: 'a.mp4', result: 'refused', reason }] });
  } finally {
    delete process.env['STORAGE_URL'];
    rmSync(folder, { recursive: true });
  }
});

test('options that are wrong for all films are told once, by their names, before any film is looked at', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['a.mp4', '2026-06-01T08-30-00Z.mp4']) writeFileSync(join(folder, file), 'no film');
  try {
    const must = 'must be text that is not blank, of 1 to 255 characters';
    const wrong = ['--customer-id', '', '--truck-id', 'x'.repeat(256), '--camera-id', ''];
    expect(await run('recording', 'import', folder, ...wrong)).toEqual({
      code: 2,
      out: '',
      err: 'error: --customer-id MUST; --truck-id MUST; --camera-id MUST\n'.replaceAll('MUST', must),
    });
    const both = await run(...imported(folder, '--truck-id', '', '--start-time', 'today'));
    expect([both.code, both.err]).toEqual([2, expect.stringMatching(/^error: --start-time must .*; --truck-id must /)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('films that do not say when they began need a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  try {
    expect(await run(...imported(folder))).toMatchObject({ code: 1, err: expect.stringContaining('no .mp4 file') });
    const missing = await run(...imported(join(folder, 'missing')));
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read as a folder: ENOENT') });
    copyFileSync(demoRecording('front', new Date(0)), join(folder, 'a.mp4'));
    expect(await run(...imported(folder))).toMatchObject({ code: 1, err: expect.stringContaining('--start-time') });
    expect(await run(...imported(folder, '--start-time', 'yesterday'))).toEqual({
      code: 2,
      out: '',
      err: 'error: --start-time must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z\n',
    });
    expect(await answer(...imported(folder, '--start-time', '2026-02-01T00:00:00Z'))).toMatchObject({
      data: [{ result: 'imported', startTime: '2026-02-01T00:00:00Z' }],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
