import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOSTED_SITE_DATA_MAX_BYTES } from '../../src/contracts/admin/hosted.dto.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../support/command-line.js';
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
