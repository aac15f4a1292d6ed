import { expect } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { html, json, raw, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, CONTINUOUS, element, type Element, inHours, POST, VIDEOS } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { VisionScene } from '../support/vision.js';

const list = (data: unknown, more: Element = {}): ScriptedReply => json({ success: true, data, ...more });

const LONG = 'r'.repeat(4_000);
const one = (videos: Element[]) => ({ page: 1, pageSize: 20, totalItems: videos.length, totalPages: 1 });

/** Sends 20 elements per page, whatever the requested page size, without totals. */
const inTwenties =
  (videos: Element[], pastEnd = list({ videos: [] })): ScriptedReply =>
  (response, request) => {
    const page = Number(request.query.get('page') ?? 1);
    const found = videos.slice((page - 1) * 20, page * 20);
    (found.length === 0 ? pastEnd : list({ videos: found }))(response, request);
  };

interface ClipCase {
  readonly name: string;
  readonly requestId?: string;
  /** Changes to the clip that is wanted. */
  readonly clip?: Element;
  /** The answers to the polls; the last one is repeated. */
  readonly replies: (videos: Element[]) => readonly ScriptedReply[];
  readonly findings?: readonly string[];
}

const others = Array.from({ length: 25 }, () => element({ requestId: 'another', downloadUrl: 'https://x.invalid/a' }));

const CLIPS: readonly ClipCase[] = [
  { name: 'under data.videos', replies: (videos) => [list({ videos, pagination: one(videos) })] },
  { name: 'under data.items', replies: (items) => [list({ items })] },
  { name: 'under data.recordings', replies: (recordings) => [list({ recordings })] },
  { name: 'with the pagination beside data', replies: (videos) => [list({ videos }, { pagination: one(videos) })] },
  {
    name: 'without durationSeconds, which is computed',
    clip: { durationSeconds: undefined },
    replies: (videos) => [list({ videos })],
  },
  { name: 'without expiresAt', clip: { expiresAt: undefined }, replies: (videos) => [list({ videos })] },
  { name: 'with an id of 4,000 characters', requestId: LONG, replies: (videos) => [list({ videos })] },
  {
    name: 'without requestId, found by truck, camera and range',
    clip: { requestId: undefined },
    replies: (videos) => [list({ videos })],
  },
  { name: 'with another spelling of the truck', clip: { truckId: 'T-0007' }, replies: (videos) => [list({ videos })] },
  { name: 'after 204, an empty list', replies: (videos) => [raw('', { status: 204 }), list({ videos })] },
  { name: 'after a page of HTML', replies: (videos) => [html(200), list({ videos })] },
  { name: 'after an answer that breaks the contract', replies: (videos) => [list(7), list({ videos })] },
  {
    name: 'beside a malformed element, which is recorded',
    replies: (videos) => [list({ videos: [{ id: 7, requestId: 'r-1' }, ...videos] })],
    findings: ['data.videos[0].truckId'],
  },
  {
    name: 'on the second page of a partner with its own page size and without totals',
    replies: (videos) => [inTwenties([...others, ...videos])],
  },
  {
    name: 'before a page past the end that is refused with 404, which is recorded',
    replies: (videos) => [inTwenties([...others, ...videos], refuses(404, 'NOT_FOUND', 'no such page'))],
    findings: ['page'],
  },
];

testAtOnce(
  'a clip is found $name (section 2.6 list element of 4.5; section 4.5 200; decision 38)',
  CLIPS,
  async ({ requestId = 'r-1', clip = {}, replies, findings = [] }) => {
    const vision = await VisionScene.create();
    const listed = element({ requestId, downloadUrl: vision.partner.link(sampleVideo(1_000)), ...clip });
    vision.partner.on(POST, accepts({ requestId }));
    vision.partner.on(VIDEOS, ...replies([listed]));
    const id = await vision.order();
    expect((await vision.becomes(id, { status: 'stored' })).recordingIds).toHaveLength(1);
    expect(await vision.recordings()).toMatchObject([{ durationSeconds: 300 }]);
    expect((await vision.findings()).map(({ path }) => path)).toEqual(expect.arrayContaining([...findings]));
  },
);

testAtOnce(
  'a clip is not taken for the one that was requested: $name (decision 38)',
  [
    { name: 'its request is another one', clip: { requestId: 'r-2' } },
    { name: 'its truck is another one, under the id of the request', clip: { truckId: 'TRUCK-9' } },
    { name: 'its camera is another one, without an id', clip: { requestId: undefined, cameraId: 'rear' } },
    {
      name: 'its range is another one, without an id',
      clip: { requestId: undefined, startTime: '2026-01-31T08:35:00Z', endTime: '2026-01-31T08:40:00Z' },
    },
  ],
  async ({ clip }) => {
    const vision = await VisionScene.create();
    const listed = element({ requestId: 'r-1', downloadUrl: 'https://x.invalid/a', ...clip });
    const request = { requestId: 'r-1', status: 'failed', message: 'It ends here.' };
    // The state ends the request after its lists were read.
    vision.partner.on(POST, accepts({ requestId: 'r-1' }));
    vision.partner.on(VIDEOS, list({ videos: [listed] }), list({ videos: [listed] }), list({ videos: [], request }));
    expect((await vision.becomes(await vision.order(), { status: 'failed' })).recordingIds).toEqual([]);
  },
);

interface ChunkCase {
  readonly name: string;
  /** The answer to a page of the list; `chunks` are three that can be read. */
  readonly reply: (chunks: Element[], page: number) => ScriptedReply;
  /** The path of a finding. */
  readonly path?: string;
}

const totals = (chunks: Element[], page: number, pagination: object) =>
  list({ recordings: page === 1 ? chunks : [], pagination: { page, pageSize: 100, ...pagination } });

/** An element without this field stands before the others. */
const without = (field: string): ChunkCase => ({
  name: `and one without ${field} is skipped and recorded`,
  reply: (chunks) => list({ recordings: [{ ...chunks[0], [field]: undefined }, ...chunks] }),
  path: `data.recordings[0].${field}`,
});

testAtOnce(
  'every readable recording of a list is stored, $name (section 2.6 data, data.recordings, pagination page, pagination pageSize, pagination totalItems, pagination totalPages; section 4.6 200; decision 38)',
  [
    { name: 'with totals that are right', reply: (c, page) => totals(c, page, { totalItems: 3, totalPages: 1 }) },
    { name: 'with totals that are too low', reply: (c, page) => totals(c, page, { totalItems: 1, totalPages: 1 }) },
    { name: 'with totals that are too high', reply: (c, page) => totals(c, page, { totalItems: 250, totalPages: 3 }) },
    { name: 'without pagination', reply: (c, page) => list({ recordings: page === 1 ? c : [] }) },
    {
      name: 'without totals, and with 400 past the end, which is recorded',
      reply: (c, page) => (page === 1 ? list({ recordings: c }) : refuses(400, 'INVALID_PAYLOAD', 'Invalid page.')),
      path: 'page',
    },
    { name: 'under data.items', reply: (items) => list({ items }) },
  ] satisfies ChunkCase[],
  storesThree,
);

testAtOnce(
  'every readable recording of a list is stored, $name (section 2.6 recording id, recording truckId, recording cameraId, recording startTime, recording endTime, recording downloadUrl; decision 38)',
  ['id', 'truckId', 'cameraId', 'startTime', 'endTime', 'downloadUrl'].map(without),
  storesThree,
);

testAtOnce(
  'every readable recording of a list is stored, $name (section 2.6 recording customerId, recording durationSeconds, recording expiresAt; section 8 expiresAt; decision 38)',
  ['customerId', 'durationSeconds', 'expiresAt'].map((field) => ({
    name: `also without ${field}`,
    reply: (chunks) => list({ recordings: chunks.map((chunk) => ({ ...chunk, [field]: undefined })) }),
  })) satisfies ChunkCase[],
  storesThree,
);

async function storesThree({ reply, path }: ChunkCase): Promise<void> {
  const vision = await VisionScene.create();
  const chunks = [2, 2.1, 2.2].map((hours) =>
    element({
      startTime: inHours(-hours),
      endTime: inHours(-hours + 1 / 12),
      downloadUrl: vision.partner.link(sampleVideo(1_000)),
    }),
  );
  vision.partner.on(CONTINUOUS, (response, request) =>
    reply(chunks, Number(request.query.get('page')))(response, request),
  );
  await vision.follow({ startTime: inHours(-3) });
  const stored = { status: 'stored', customerId: 'customer-1', durationSeconds: 300 };
  await vision.recordingsBecome(chunks.map(({ id }) => ({ ...stored, partnerRecordingId: id })));
  const found = await vision.findings();
  expect(found.map((finding) => finding.path)).toEqual(expect.arrayContaining(path === undefined ? [] : [path]));
}
