import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { hangs, type ScriptedReply } from '../support/scripted-partner.js';
import { orderVideo, requestBecomes } from '../support/video-requests.js';
import {
  accepts,
  connectVision,
  element,
  type Element,
  startAnew,
  hurry,
  lists,
  POST,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';

let app: TestApp;
let partner: VisionPartner;
let clips: Element[];
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, PARTNER_ANSWER_TIMEOUT: 600 } });
  partner = await startVisionPartner();
});
afterEach(() => startAnew(app, partner));
afterAll(async () => {
  await app.close();
  await partner.stop();
});

const listed = lists('videos', () => clips);

const listHangs: ScriptedReply = (response, asked) =>
  (asked.query.has('requestId') ? listed : hangs())(response, asked);

/** R1 and R2, both with the partner, whose lists go on as told; each is asked for by its own id from now on. */
async function twoOpen(then: ScriptedReply): Promise<string[]> {
  clips = [];
  partner.on(POST, accepts({ requestId: 'R1' }), accepts({ requestId: 'R2' }));
  partner.on(VIDEOS, listed);
  const { id } = await connectVision(app, partner.url);
  const first = await orderVideo(app, id, { cameraId: 'rear' });
  await requestBecomes(app, first, { status: 'processing' });
  const second = await orderVideo(app, id);
  await requestBecomes(app, second, { status: 'processing' });
  await roundEnds();
  partner.on(VIDEOS, then);
  return [first, second];
}

const roundEnds = (condition = 'true') =>
  eventually(async () => {
    const rows = await app.dataSource.query<unknown[]>(
      `SELECT lease_token IS NULL AND ${condition} AS ended FROM video_polls`,
    );
    expect(rows).toEqual([{ ended: true }]);
  });

/** Who was last asked for alone so many minutes ago. */
const askedAlone = (minutes: Readonly<Record<string, number>>) =>
  app.dataSource.query(
    `UPDATE video_request_parts SET polled_individually_at = now() - asked.minutes * interval '1 minute'
     FROM unnest($1::text[], $2::float8[]) AS asked (id, minutes) WHERE partner_request_id = asked.id`,
    [Object.keys(minutes), Object.values(minutes)],
  );

const questions = (from: number) =>
  partner
    .askedOf(VIDEOS)
    .slice(from)
    .map(({ query }) => query.get('requestId') ?? 'list');

test('where the list is waited for in vain, parts are asked for by their own ids all the same', async () => {
  const requests = await twoOpen(listHangs);
  clips = [
    element({ requestId: 'R1', cameraId: 'rear', downloadUrl: partner.link(sampleVideo()) }),
    element({ requestId: 'R2', downloadUrl: partner.link(sampleVideo()) }),
  ];
  await askedAlone({ R1: 15, R2: 15 });
  for (const id of requests) await requestBecomes(app, id, { status: 'stored' });
});

test('after a list in vain ids come first, of these who waits longest', async () => {
  await twoOpen(listHangs);
  await hurry(app);
  await roundEnds('last_error IS NOT NULL');
  await askedAlone({ R1: 15, R2: 20 });
  const from = partner.askedOf(VIDEOS).length;
  await hurry(app);
  await eventually(() => expect(questions(from)).toEqual(['R2', 'R1']));
});

test('one id in vain is enough, and the list is asked for after it', async () => {
  await twoOpen(hangs());
  await hurry(app);
  await roundEnds('last_error IS NOT NULL');
  await askedAlone({ R1: 20, R2: 15 });
  const from = partner.askedOf(VIDEOS).length;
  await hurry(app);
  await roundEnds('attempts = 2');
  expect(questions(from)).toEqual(['R1', 'list']);
});
