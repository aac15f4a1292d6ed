import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import {
  accepts,
  connectVision,
  CONTINUOUS,
  element,
  type Element,
  hurry,
  inHours,
  lists,
  POST,
  sha256,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';
import { sampleVideo } from '../support/sample-video.js';

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly recordingIds: string[];
}

let app: TestApp;
let partner: VisionPartner;
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
});
afterEach(() => partner.reset());
afterAll(async () => {
  await app.close();
  await partner.stop();
});

const request = async (path: string): Promise<Shown> => (await app.admin<Shown>('GET', path)).body;

describe('on demand', () => {
  test('a request is sent once, polled, downloaded and played', async () => {
    const { id: connectionId } = await connectVision(app, partner.url);
    const body = sampleVideo();
    const clips: Element[] = [];
    partner.on(POST, accepts({ requestId: 'req-a' }));
    partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    const range = { startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T08:35:00Z' };
    const asked = await app.admin<Shown>('POST', '/video-requests', {
      connectionId,
      truckId: 'TRUCK-7',
      cameraId: 'front',
      ...range,
    });
    expect(asked).toMatchObject({ status: 202, body: { id: expect.any(String), status: 'submitting' } });
    const path = `/video-requests/${asked.body.id}`;
    await eventually(async () => expect(await request(path)).toMatchObject({ status: 'processing' }));
    expect(JSON.parse(partner.askedOf(POST)[0]?.body ?? '')).toEqual({
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      ...range,
    });
    clips.push(element({ requestId: 'req-a', downloadUrl: partner.link(body) }));
    await hurry(app);
    await eventually(async () => expect(await request(path)).toMatchObject({ status: 'stored' }));
    expect(partner.askedOf(POST)).toHaveLength(1);
    expect(partner.askedOf(VIDEOS)[0]?.query.get('requestId')).toBe('req-a');
    const shown = await request(path);
    expect(shown).toMatchObject({ partnerRequestId: 'req-a', recordingIds: [expect.any(String)] });
    const recording = await app.admin('GET', `/recordings/${shown.recordingIds[0]}`);
    expect(recording.body).toMatchObject({ source: 'on-demand', sizeBytes: body.length, sha256: sha256(body) });
    expect(recording.text).not.toContain('sig=');
    const played = await fetch(`${app.url}/admin/v1/recordings/${shown.recordingIds[0]}/content`, {
      headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}`, Range: 'bytes=10-19' },
    });
    expect(played.status).toBe(206);
    expect(Buffer.from(await played.arrayBuffer())).toEqual(body.subarray(10, 20));
  });
});

describe('continuous', () => {
  test('a subscription reads its windows, and its chunks are fetched', async () => {
    const { id: connectionId } = await connectVision(app, partner.url);
    const first = Date.parse(inHours(-3));
    const at = (n: number) => new Date(first + n * 300_000).toISOString();
    const chunks = [0, 1, 2].map((n) =>
      element({ startTime: at(n), endTime: at(n + 1), downloadUrl: partner.link(sampleVideo()) }),
    );
    partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    const made = await app.admin<{ id: string }>('POST', '/video-subscriptions', {
      connectionId,
      truckId: 'TRUCK-7',
      startTime: inHours(-4),
    });
    expect(made).toMatchObject({ status: 201, body: { intervalSeconds: 300, enabled: true } });
    await eventually(async () => {
      const list = await app.admin<{ data: Shown[] }>('GET', `/recordings?connectionId=${connectionId}&status=stored`);
      expect(list.body.data).toHaveLength(3);
    });
    const read = await app.admin<{ watermark: string }>('GET', `/video-subscriptions/${made.body.id}`);
    expect(Date.parse(read.body.watermark)).toBeGreaterThan(Date.now() - 70_000);
    const covered = await app.admin<{ data: { state: string }[] }>(
      'GET',
      `/coverage?connectionId=${connectionId}&truckId=TRUCK-7&from=${inHours(-4)}&to=${inHours(0)}`,
    );
    expect(covered.body.data.map(({ state }) => state)).toEqual([
      'missing',
      'stored',
      'stored',
      'stored',
      'missing',
      'missing',
    ]);
  });
});
