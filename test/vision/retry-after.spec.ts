import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { refuses, type ScriptedReply } from '../support/scripted-partner.js';
import { accepts, CONTINUOUS, inHours, POST, VIDEOS } from '../support/vision-partner.js';
import { pollsEnded, useVision } from '../support/vision-scene.js';

const vision = useVision();

/** Seconds until the failed row of a table is due. */
async function dueIn(table: string): Promise<number> {
  const rows = await vision.query<{ seconds: number }>(
    `SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM ${table}
     WHERE last_error IS NOT NULL AND started_at IS NULL`,
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.seconds ?? 0;
}

const later = (status: number, retryAfter?: string): ScriptedReply =>
  refuses(status, 'INTERNAL_ERROR', 'later', retryAfter === undefined ? {} : { 'Retry-After': retryAfter });

const PAST = 'Sat, 31 Jan 2026 08:30:00 GMT';

test.each<[string, ScriptedReply]>([
  ['429 with Retry-After: 1', later(429, '1')],
  ['429 with a Retry-After in the past', later(429, PAST)],
  ['429 without Retry-After', later(429)],
  ['503 with Retry-After: 0', later(503, '0')],
])('a partner that answers %s is called no earlier than by the interval of the subscription', async (_, reply) => {
  vision.partner.on(CONTINUOUS, reply);
  const body = {
    connectionId: await vision.connect(),
    truckId: 'TRUCK-7',
    startTime: inHours(-1),
    intervalSeconds: 300,
  };
  expect((await vision.app.admin('POST', '/video-subscriptions', body)).status).toBe(201);
  await eventually(async () => expect(await dueIn('video_subscriptions')).toBeGreaterThan(250), 15_000);
  // The attempts of one run (decision 36).
  expect(vision.partner.askedOf(CONTINUOUS)).toHaveLength(3);
});

test('a partner that answers 429 to the poll of an old request is called no earlier than by its schedule', async () => {
  vision.partner.on(POST, accepts());
  vision.listVideos(() => []);
  const id = await vision.order(await vision.connect());
  await vision.becomes(id, { status: 'processing' });
  await vision.query("UPDATE video_request_parts SET submitted_at = now() - interval '2 hours'");
  await pollsEnded(vision);
  const before = vision.partner.askedOf(VIDEOS).length;
  vision.partner.on(VIDEOS, later(429, '1'));
  await eventually(async () => {
    if (vision.partner.askedOf(VIDEOS).length === before) await vision.hurry();
    expect(await dueIn('video_polls')).toBeGreaterThan(250);
  }, 15_000);
});
