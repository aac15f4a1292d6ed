import { expect, test } from '@jest/globals';
import type { WebhookDelivery, WebhookEndpoint } from '../../../src/contracts/admin/webhooks.routes.js';
import { StatesJob } from '../../../src/admin/attention/states.job.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { refuses } from '../../support/scripted-partner.js';
import { accepts, CONTINUOUS, element, inHours, POST } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';
import { rowsOf } from '../../support/rows.js';
import { ageTries } from '../../support/time.js';
import { Subscriptions } from '../vision/subscriptions.js';

const vision = useVision();
const subscriptions = new Subscriptions(vision);

/** An endpoint that nobody listens at: what waits for it is read by the API. */
async function endpoint(...topics: string[]): Promise<() => Promise<{ topic: string; data: object }[]>> {
  const body = { url: 'http://127.0.0.1:9/hook', topics };
  const { id } = (await vision.app.admin<WebhookEndpoint>('POST', '/webhook-endpoints', body)).body;
  return async () => {
    const path = `/webhook-deliveries?endpointId=${id}`;
    const { data } = (await vision.app.admin<{ data: WebhookDelivery[] }>('GET', path)).body;
    return data
      .map(({ topic, body: text }) => ({ topic, data: (JSON.parse(text) as { data: object }).data }))
      .reverse();
  };
}

const states = () => vision.app.app.get(StatesJob).run();
const clips = ['clip.stored', 'clip.failed', 'clip.expired'];
const camera = { truckId: 'TRUCK-7', cameraId: 'front' };

/** Orders a clip, lets it end, and returns what was announced of it. */
async function endOf(status: string, prepare: () => void): Promise<void> {
  const announced = await endpoint(...clips);
  prepare();
  const connectionId = await vision.connect();
  const videoRequestId = await vision.order(connectionId);
  if (status === 'expired') {
    await vision.becomes(videoRequestId, { status: 'processing' });
    await vision.endDeadline();
  }
  await vision.becomes(videoRequestId, { status });
  expect(await announced()).toEqual([
    { topic: `clip.${status}`, data: { haulerId: vision.haulerId, connectionId, videoRequestId, ...camera } },
  ]);
}

test('clip.stored is announced once the whole video is stored', () =>
  endOf('stored', () => {
    vision.partner.on(POST, accepts({ requestId: 'req-stored' }));
    vision.listVideos(() => [element({ requestId: 'req-stored', downloadUrl: vision.partner.link(sampleVideo()) })]);
  }));

test('clip.failed is announced when the partner calls it failed', () =>
  endOf('failed', () => {
    vision.partner.on(POST, accepts({ requestId: 'req-failed' }));
    vision.listVideos(() => [], { request: { requestId: 'req-failed', status: 'failed', message: 'nothing' } });
  }));

test('clip.expired is announced at the deadline', () =>
  endOf('expired', () => {
    vision.partner.on(POST, accepts());
    vision.listVideos(() => []);
  }));

test('recording.at_risk is announced once for a truck, and recording.failed with the code of the end', async () => {
  const announced = await endpoint('recording.at_risk', 'recording.failed');
  const dead = vision.partner.link(sampleVideo(), (_, response) => response.writeHead(503).end());
  vision.listRecordings(() => [subscriptions.chunk(1, { id: 'dead', downloadUrl: dead })]);
  const connectionId = await vision.connect();
  const followed = await subscriptions.follow(connectionId);
  await eventually(async () => {
    await vision.hurry();
    await states();
    expect(await announced()).toEqual([
      { topic: 'recording.at_risk', data: { haulerId: vision.haulerId, connectionId, truckId: camera.truckId } },
    ]);
  }, 15_000);
  // A reading that was under way may revive it once more.
  await vision.app.admin('DELETE', `/video-subscriptions/${followed}`);
  await eventually(async () => {
    await ageTries(vision.app, 8);
    await vision.hurry();
    expect((await announced()).map(({ topic }) => topic)).toContain('recording.failed');
  }, 15_000);
  const [recording] = await rowsOf<{ id: string; code: string }>(vision.app, 'recordings', 'id, reason_code AS code');
  expect(recording?.code).toBe('unreachable');
  expect((await announced()).filter(({ topic }) => topic === 'recording.failed')).toEqual([
    {
      topic: 'recording.failed',
      data: { haulerId: vision.haulerId, connectionId, recordingId: recording?.id, ...camera, reason: recording?.code },
    },
  ]);
}, 45_000);

test('connection.refused is announced while a partner refuses our key, and connection.recovered after it', async () => {
  const announced = await endpoint('connection.refused', 'connection.recovered');
  vision.partner.on(CONTINUOUS, refuses(401, 'UNAUTHORIZED'));
  const connectionId = await vision.connect();
  await subscriptions.follow(connectionId, { startTime: inHours(-1) });
  const data = { haulerId: vision.haulerId, connectionId };
  await eventually(async () => {
    await states();
    expect(await announced()).toEqual([{ topic: 'connection.refused', data }]);
  }, 15_000);
  vision.listRecordings(() => []);
  await eventually(async () => {
    await vision.hurry();
    await states();
    expect(await announced()).toEqual([
      { topic: 'connection.refused', data },
      { topic: 'connection.recovered', data },
    ]);
  }, 15_000);
}, 45_000);
