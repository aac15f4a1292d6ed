import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { accepts, CONTINUOUS, element, inHours, lists, POST, sha256, VIDEOS } from '../../support/scripted-vision.js';
import { admin, administer, call, listed, target } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

/** Characters that no database compresses, as those of a signed or hashed id. */
const random = (length: number): string =>
  randomBytes(length).toString('base64url').replaceAll('_', '~').slice(0, length);

/** An id that begins as a key of ours does, which random ids do now and then. Only the log of exchanges hides it. */
const keyLike = (length: number): string => `hb_${randomBytes(30).toString('hex')}${random(length)}`.slice(0, length);

const chunk = (fields: Record<string, unknown>) =>
  element({ startTime: inHours(-2), endTime: inHours(-1.9), ...fields });

// Source: an update of a video service made its ids longer than 255 characters, and nothing was fetched any more.
describe('ids of a partner of up to 4,000 characters (decision 38)', () => {
  let vision: VisionScene;
  let stored: ShownRecording[];
  const truckId = `TRUCK ${random(600)}`;
  const cameraId = keyLike(900);
  const ids = [keyLike(256), keyLike(1_000), random(4_000)];
  const file = sampleVideo();
  beforeAll(async () => {
    vision = await VisionScene.create();
    const chunks = ids.map((id, n) =>
      chunk({
        ...{ id, truckId, cameraId, customerId: random(4_000) },
        ...{ startTime: inHours(-2 + n / 10), endTime: inHours(-1.9 + n / 10), downloadUrl: vision.partner.link(file) },
      }),
    );
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await vision.follow({ truckId, startTime: inHours(-3) });
    stored = await vision.recordingsBecome(ids.map((id) => ({ partnerRecordingId: id, status: 'stored' })));
  }, 60_000);

  test('are stored, listed and found by filters of truck and camera', async () => {
    expect(stored.map((each) => each.partnerRecordingId).sort()).toEqual([...ids].sort());
    const query = new URLSearchParams({ truckId, cameraId }).toString();
    expect(await vision.recordings(`&${query}`)).toHaveLength(3);
    expect(await vision.recordings(`&${new URLSearchParams({ truckId: `${truckId}x` }).toString()}`)).toEqual([]);
  });

  test('are in the CSV and in the coverage', async () => {
    const headers = { Authorization: `Bearer ${target.adminToken}`, Accept: 'text/csv' };
    const path = `/admin/v1/recordings?${new URLSearchParams({ connectionId: vision.connectionId, truckId }).toString()}`;
    const csv = await (await fetch(target.url + path, { headers })).text();
    for (const id of [truckId, cameraId, ...ids]) expect(csv).toContain(id);
    const covered = await vision.coverage(inHours(-2), inHours(-1.7), { truckId, cameraId });
    expect(covered.filter(({ state }) => state === 'stored').length).toBeGreaterThan(0);
  });

  test('are found in the exchange log by their reference', async () => {
    await eventually(async () => {
      for (const reference of [`partnerRecordingId:${ids[2]}`, `truckId:${truckId}`]) {
        const query = new URLSearchParams({ connectionId: vision.connectionId, reference }).toString();
        const { data } = await administer<{ data: unknown[] }>('GET', `/exchanges?${query}`);
        expect(data.length).toBeGreaterThan(0);
      }
    });
  });

  test('may be held, and the hold finds the recordings', async () => {
    const body = {
      ...{ connectionId: vision.connectionId, truckId, from: inHours(-3), to: inHours(-1) },
      ...{ caseId: 'C-1', reason: 'Dispute' },
    };
    expect((await admin('POST', '/holds', body)).status).toBe(201);
    const holds = `/holds?${new URLSearchParams({ connectionId: vision.connectionId, truckId }).toString()}`;
    expect(await listed(holds)).toHaveLength(1);
  });
});

test('a clip with a request id, a truck and a camera of thousands of characters is stored (decision 38)', async () => {
  const vision = await VisionScene.create();
  const file = sampleVideo();
  const requestId = keyLike(4_000);
  const [truckId, cameraId] = ['T'.repeat(4_000), 'c'.repeat(4_000)];
  vision.partner.on(POST, accepts({ requestId }));
  const clip = element({ id: random(4_000), requestId, truckId, cameraId, downloadUrl: vision.partner.link(file) });
  vision.partner.on(
    VIDEOS,
    lists('videos', () => [clip]),
  );
  const id = await vision.order({ truckId, cameraId });
  const shown = await vision.becomes(id, { status: 'stored', partnerRequestId: requestId });
  expect(shown.recordingIds).toHaveLength(1);
  const filter = new URLSearchParams({ connectionId: vision.connectionId, truckId }).toString();
  expect(await listed(`/video-requests?${filter}`)).toHaveLength(1);
});

test('a truck and a camera that no index can hold are a finding, and the other recordings land (decision 38)', async () => {
  const vision = await VisionScene.create();
  const file = sampleVideo();
  const all = [
    chunk({ cameraId: random(4_000), downloadUrl: vision.partner.link(file) }),
    chunk({ downloadUrl: vision.partner.link(file) }),
  ];
  vision.partner.on(
    CONTINUOUS,
    lists('recordings', () => all),
  );
  await vision.follow({ startTime: inHours(-3) });
  await vision.recordingsBecome([{ cameraId: 'front', status: 'stored', sha256: sha256(file) }]);
  expect(await vision.findings()).toMatchObject([{ reason: expect.stringContaining('too long') }]);
});

test('the partner wakes the reading of a truck with a long name by a poke (decision 38)', async () => {
  const vision = await VisionScene.create();
  const truckId = random(1_500);
  await vision.follow({ truckId, startTime: inHours(-3) });
  const headers = { 'API-KEY': vision.connectionKey };
  expect((await call('POST', '/partner/v1/pokes', { headers, body: { truckId } })).status).toBeLessThan(300);
});
