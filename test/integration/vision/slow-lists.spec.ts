import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { hangs, type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, element, lists, POST, VIDEOS, type Element } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision({ PARTNER_ANSWER_TIMEOUT: 600 });
const { becomes, order } = vision;

let clips: Element[];

const listed = lists('videos', () => clips);

const listHangs: ScriptedReply = (response, asked) =>
  (asked.query.has('requestId') ? listed : hangs())(response, asked);

/** Submits the requests R1 and R2. Afterwards the partner answers polls with `then`. */
async function twoOpen(then: ScriptedReply): Promise<string[]> {
  clips = [];
  vision.partner.on(POST, accepts({ requestId: 'R1' }), accepts({ requestId: 'R2' }));
  vision.partner.on(VIDEOS, listed);
  const id = await vision.connect();
  const first = await order(id, { cameraId: 'rear' });
  await becomes(first, { status: 'processing' });
  const second = await order(id);
  await becomes(second, { status: 'processing' });
  await roundEnds();
  vision.partner.on(VIDEOS, then);
  return [first, second];
}

const roundEnds = (condition = 'true') =>
  eventually(async () => {
    const rows = await vision.query<unknown>(`SELECT started_at IS NULL AND ${condition} AS ended FROM video_polls`);
    expect(rows).toEqual([{ ended: true }]);
  });

/** Sets how many minutes ago each request was polled by its own id. */
const setIndividualPolls = (minutes: Readonly<Record<string, number>>) =>
  vision.query(
    `UPDATE video_request_parts SET polled_individually_at = now() - asked.minutes * interval '1 minute'
     FROM unnest($1::text[], $2::float8[]) AS asked (id, minutes) WHERE partner_request_id = asked.id`,
    [Object.keys(minutes), Object.values(minutes)],
  );

const polls = (from: number) =>
  vision.partner
    .askedOf(VIDEOS)
    .slice(from)
    .map(({ query }) => query.get('requestId') ?? 'list');

test('individual polls are made although the list does not answer', async () => {
  const requests = await twoOpen(listHangs);
  clips = [
    element({ requestId: 'R1', cameraId: 'rear', downloadUrl: vision.partner.link(sampleVideo()) }),
    element({ requestId: 'R2', downloadUrl: vision.partner.link(sampleVideo()) }),
  ];
  await setIndividualPolls({ R1: 15, R2: 15 });
  for (const id of requests) await becomes(id, { status: 'stored' });
});

test('individual polls come first after a list that did not answer, the oldest one first', async () => {
  await twoOpen(listHangs);
  await vision.hurry();
  await roundEnds('last_error IS NOT NULL');
  await setIndividualPolls({ R1: 15, R2: 20 });
  const from = vision.partner.askedOf(VIDEOS).length;
  await vision.hurry();
  await eventually(() => expect(polls(from)).toEqual(['R2', 'R1']));
});

test('an individual poll that does not answer ends the others, and the list is polled after it', async () => {
  await twoOpen(hangs());
  await vision.hurry();
  await roundEnds('last_error IS NOT NULL');
  await setIndividualPolls({ R1: 20, R2: 15 });
  const from = vision.partner.askedOf(VIDEOS).length;
  await vision.hurry();
  await roundEnds('attempts = 2');
  expect(polls(from)).toEqual(['R1', 'list']);
});
