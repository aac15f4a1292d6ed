import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, raw, type ScriptedReply } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, type Element, inHours } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from '../vision/subscriptions.js';

const LIMIT = 25_165_824;
const vision = useVision({ PARTNER_BODY_LIMIT: LIMIT });
const subscriptions = new Subscriptions(vision);

const FIRST = Date.parse(inHours(-3.5));

/** Chunks of a second by two cameras, in one page that ignores `page`. `linkLength` characters of each link are a signature. */
function chunks(count: number, linkLength: number): Element[] {
  const signature = 'x'.repeat(linkLength);
  return Array.from({ length: count }, (_, n) =>
    element({
      id: `chunk-${n}`,
      cameraId: n % 2 === 0 ? 'front' : 'rear',
      startTime: new Date(FIRST + (n >> 1) * 1_000).toISOString(),
      endTime: new Date(FIRST + ((n >> 1) + 1) * 1_000).toISOString(),
      durationSeconds: 1,
      // Nobody listens there.
      downloadUrl: `http://127.0.0.1:1/${n}.mp4?sig=${signature}`,
    }),
  );
}

const count = async (): Promise<number> => {
  const path = `/recordings?connectionId=${vision.connectionId}`;
  const { body } = await vision.app.admin<{ pagination: { totalItems: number } }>('GET', path);
  return body.pagination.totalItems;
};

const findings = async (): Promise<string[]> => {
  const path = `/vision-findings?connectionId=${vision.connectionId}`;
  return (await vision.app.admin<{ data: { reason: string }[] }>('GET', path)).body.data.map(({ reason }) => reason);
};

interface Case {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly reply: ScriptedReply;
  readonly recordings: number;
  readonly finding?: RegExp;
}

const day = chunks(2_880, 1_400);
const MIDDLE = 1_500;
const withOdd = [...day.slice(0, MIDDLE), { odd: 'x'.repeat(1_100_000) }, ...day.slice(MIDDLE)];

test.each<Case>([
  {
    name: 'a day of two cameras without pages, 4.3 MiB',
    source: 'a fleet whose video service signs links of 1.5 KB and has no pages saw no footage at all',
    reply: json({ success: true, data: { recordings: day } }),
    recordings: 2_880,
  },
  {
    name: 'the same, sent as the array itself, beside its pagination',
    source: 'a video service that puts the list into data',
    reply: json({ success: true, data: day, pagination: { page: 1, pageSize: 5_000, totalItems: 2_880 } }),
    recordings: 2_880,
  },
  {
    name: 'links of 8 KB, 20 MiB',
    source: 'links that carry a policy and a session token',
    reply: json({ success: true, data: { videos: chunks(2_600, 8_000) } }),
    recordings: 2_600,
  },
  {
    name: 'an element of more than 1 MiB among the others',
    source: 'a recorder that puts its telemetry into one element',
    reply: json({ success: true, data: { recordings: withOdd } }),
    recordings: 2_880,
    finding: /data\.recordings\[1500\] must not be larger than 1 MiB/,
  },
  {
    name: 'status 204 where nothing was recorded',
    source: 'a gateway that answers an empty list without a body',
    reply: raw('', { status: 204 }),
    recordings: 0,
  },
])(
  'a long list is read: $name ($source)',
  async ({ reply, recordings, finding }) => {
    vision.partner.on(CONTINUOUS, reply);
    const id = await subscriptions.follow(await vision.connect());
    await subscriptions.reachesNow(id);
    await eventually(async () => expect(await count()).toBe(recordings), 20_000);
    const reasons = await findings();
    if (finding === undefined) expect(reasons).toEqual([]);
    else expect(reasons).toEqual([expect.stringMatching(finding)]);
  },
  60_000,
);

test('a list beyond PARTNER_BODY_LIMIT: a finding says so, what was read before stays, and the next times are read', async () => {
  let isLarge = true;
  const large = json({ success: true, data: { recordings: chunks(3_600, 8_000) } });
  const small = json({ success: true, data: { recordings: chunks(10, 10) } });
  vision.partner.on(CONTINUOUS, (response, request) => (isLarge ? large : small)(response, request));
  const id = await subscriptions.follow(await vision.connect());
  await eventually(
    async () => expect(await findings()).toEqual([expect.stringContaining('is larger than 24 MB')]),
    20_000,
  );
  expect((await subscriptions.read(id)).lastError).toContain('is larger than 24 MB');
  isLarge = false;
  await vision.hurry();
  await subscriptions.reachesNow(id);
  expect(await count()).toBeGreaterThanOrEqual(10);
}, 60_000);

test('the check of a connection reads a list of any size', async () => {
  vision.partner.on('GET /video-platform/v1/videos', json({ success: true, data: { videos: day } }));
  const id = await vision.connect();
  const { body } = await vision.app.admin<{ findings: string[] }>('POST', `/connections/${id}/check`);
  expect(body.findings).toContain('The partner lists videos of this customer.');
}, 60_000);
