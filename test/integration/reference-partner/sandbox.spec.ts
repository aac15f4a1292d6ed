import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO_SITE_DATA } from '../../../src/demo/demo-data.js';
import { eventually } from '../../support/eventually.js';
import { CUSTOMER, demoVideo } from '../../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const named = (name: string) => ({ 'Sandbox-Scenario': name });
const state = async (requestId: string) => (await scene.listVideos({ requestId })).body.data.request;
const clock = (body: object) =>
  scene.service.admin<{ now: string }>('POST', `/sandbox/customers/${encodeURI(CUSTOMER)}/clock`, body);

describe('scenarios of site data', () => {
  test('half of the sites is absent', async () => {
    const { data } = (await scene.getSites(named('site-list-shrinks'))).body;
    expect([data.sites.length, DEMO_SITE_DATA.sites.length]).toEqual([1, 2]);
    expect(data.kiosks.every(({ siteId }) => siteId === data.sites[0]?.id)).toBe(true);
    expect((await scene.getSites()).body.data.sites).toHaveLength(2);
  });

  test('a material has no known parent', async () => {
    const { data } = (await scene.getSites(named('material-without-parent'))).body;
    const ids = data.sites.map(({ id }) => id);
    const orphans = data.materials.filter(
      ({ siteId, kioskId }) => kioskId === undefined && !ids.includes(siteId ?? ''),
    );
    expect(orphans).toHaveLength(1);
  });

  test('records are older than before', async () => {
    const { data } = (await scene.getSites(named('stale-records'))).body;
    expect(new Set(data.sites.map(({ updatedAt }) => updatedAt))).toEqual(new Set(['2000-01-01T00:00:00Z']));
  });
});

describe('scenarios of clips', () => {
  test('a failed clip says why', async () => {
    const { body } = await scene.requestVideo({}, named('failed-clip'));
    await eventually(async () =>
      expect(await state(body.requestId)).toMatchObject({ status: 'failed', message: 'The camera was switched off.' }),
    );
  });

  test('a slow clip is ready when the clock has moved', async () => {
    const { body } = await scene.requestVideo({}, named('slow-clip'));
    const endless = await scene.requestVideo({ truckId: 'SANDBOX-ENDLESS-CLIP' });
    expect((await state(body.requestId))?.status).toBe('processing');
    expect((await clock({ advanceTo: 'clip-ready' })).status).toBe(200);
    await eventually(async () => expect((await state(body.requestId))?.status).toBe('ready'));
    expect((await clock({ advanceTo: 'clip-ready' })).status).toBe(409);
    expect((await state(endless.body.requestId))?.status).toBe('processing');
  });

  test('a truck of the catalogue has the recordings of a real one', async () => {
    const { status, body } = await scene.requestVideo({ truckId: 'SANDBOX-WRONG-TOTALS' });
    expect(status).toBe(202);
    await eventually(async () => expect((await state(body.requestId))?.status).toBe('ready'));
    const { data } = (await scene.listContinuous({ truckId: 'SANDBOX-WRONG-TOTALS' })).body;
    expect(data.recordings.map(({ truckId }) => truckId)).toEqual(Array(4).fill('SANDBOX-WRONG-TOTALS'));
  });
});

describe('scenarios of lists', () => {
  const ids = async (query: Record<string, string>, scenario?: string) =>
    (await scene.listContinuous(query, scenario === undefined ? {} : named(scenario))).body.data.recordings.map(
      ({ id }) => id,
    );

  test('totals are too high', async () => {
    const { pagination } = (await scene.listContinuous({}, named('wrong-totals'))).body.data;
    expect(pagination.totalItems).toBeGreaterThan(4);
  });

  test('a later page repeats the last element of the page before', async () => {
    await scene.start(`customers/${CUSTOMER}`, 'shifting-pages', { times: 1 });
    const first = await ids({ pageSize: '2' });
    const second = await ids({ pageSize: '2', page: '2' });
    expect(second[0]).toBe(first[1]);
    expect(await ids({ pageSize: '2', page: '2' })).not.toContain(first[1]);
  });

  test('late chunks are listed later', async () => {
    expect(await ids({}, 'late-chunks')).toHaveLength(2);
    expect(await ids({})).toHaveLength(4);
  });

  test('a camera goes by its other name', async () => {
    const { recordings } = (await scene.listContinuous({}, named('camera-alias'))).body.data;
    expect(recordings.map(({ cameraId }) => cameraId)).toEqual(Array(4).fill('1'));
  });
});

describe('scenarios of downloads', () => {
  const link = async (scenario: string) =>
    (await scene.listContinuous({}, named(scenario))).body.data.recordings[0]?.downloadUrl ?? '';
  const bytes = demoVideo(0);

  test('a link has expired already', async () => {
    expect((await fetch(await link('link-expired-at-birth'))).status).toBe(410);
  });

  test('a link expires during the download', async () => {
    // Long enough for the request to arrive on a busy machine.
    const parameters = { seconds: 3 };
    await scene.start(`customers/${CUSTOMER}`, 'link-expires-during-download', { times: 1, parameters });
    const url = (await scene.listContinuous()).body.data.recordings[0]?.downloadUrl ?? '';
    const response = await fetch(url);
    expect(response.headers.get('Content-Length')).toBe(String(bytes.length));
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect((await fetch(url)).status).toBe(410);
  });

  test('a file is truncated', async () => {
    const response = await fetch(await link('truncated-file'));
    expect((await response.arrayBuffer()).byteLength).toBe(Math.floor(bytes.length / 2));
  });

  test.each([
    ['etag-changes', 200],
    ['no-range', 200],
  ])('%s: an interrupted download cannot be resumed', async (name, status) => {
    const url = await link(name);
    const first = await fetch(url);
    await expect(first.arrayBuffer()).rejects.toThrow();
    const headers = { Range: 'bytes=100-', 'If-Range': first.headers.get('ETag') ?? '' };
    const resumed = await fetch(url, { headers });
    expect(resumed.status).toBe(status);
    expect(Buffer.from(await resumed.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('the scenario of a link cannot be removed from it', async () => {
    const url = new URL(await link('truncated-file'));
    url.searchParams.delete('scenario');
    expect((await fetch(url)).status).toBe(401);
  });
});

describe('the clock', () => {
  test('moves links to their end, for one customer, and by seconds', async () => {
    const before = Date.parse((await clock({ advanceSeconds: 1 })).body.now);
    const url = (await scene.listContinuous()).body.data.recordings[0]?.downloadUrl ?? '';
    expect((await fetch(url)).status).toBe(200);
    const { now } = (await clock({ advanceTo: 'link-expired' })).body;
    expect(Date.parse(now) - before).toBeGreaterThan(8 * 3_600_000);
    expect((await fetch(url)).status).toBe(410);
    const renewed = (await scene.listContinuous()).body.data.recordings[0]?.downloadUrl ?? '';
    expect((await fetch(renewed)).status).toBe(200);
  });

  test('takes either seconds or an event', async () => {
    expect((await clock({})).status).toBe(400);
    expect((await clock({ advanceSeconds: 1, advanceTo: 'clip-ready' })).status).toBe(400);
    // The recordings are of the past.
    expect((await clock({ advanceTo: 'window-closed' })).status).toBe(409);
  });

  test('is the only place where the reference partner reads the system clock', () => {
    const readersOf = (clock: RegExp) =>
      globSync('src/reference-partner/**/*.ts').filter((file) => clock.test(readFileSync(file, 'utf8')));
    expect(readersOf(/\bDate\.now\b|new Date\(\)|\bDate\(\)|performance\.now\b|hrtime|temporal/i)).toEqual([
      'src/reference-partner/sandbox/partner-clock.ts',
    ]);
    // Due times of jobs and the time of an upload are times of the database: no caller sees them.
    const others = globSync('src/reference-partner/**/*.ts')
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .filter((line) => /(?<![.\w])now\(\)|clock_timestamp|current_timestamp/i.test(line))
      .filter((line) => !/due_at|updated_at = now\(\)|'processing', now\(\) \+/.test(line));
    expect(others).toEqual([]);
  });
});
