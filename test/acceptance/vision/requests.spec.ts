import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { refuses, type ScriptedReply, when } from '../../support/scripted-partner.js';
import { accepts, element, type Element, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, paths } from '../support/hauler.js';
import { admin, administer } from '../support/target.js';
import { type ShownRequest, VisionScene } from '../support/vision.js';

const RANGE = { startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T08:35:00Z' };
const UNKNOWN = '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10';

/** A listed clip that can be fetched. */
const clip = ({ partner }: VisionScene, fields: Element = {}): Element =>
  element({ downloadUrl: partner.link(sampleVideo(1_000)), ...fields });

/** The different values of a header of the POSTs that the partner has received. */
const headersOf = ({ partner }: VisionScene, name: string): Set<unknown> =>
  new Set(partner.askedOf(POST).map(({ headers }) => headers[name]));

describe('POST /admin/v1/video-requests', () => {
  test.each<[string, object, string]>([
    ['end before start', { endTime: '2026-01-31T08:29:00Z' }, 'endTime'],
    ['end at start', { endTime: RANGE.startTime }, 'endTime'],
    ['more than a thousand parts', { endTime: '2026-04-30T08:29:00Z' }, 'endTime'],
    ['an end beyond the year 9999', { ...RANGE, startTime: '9999-12-31T23:59:59.999Z' }, 'endTime'],
    ['no truck', { truckId: '' }, 'truckId'],
    ['no camera', { cameraId: undefined }, 'cameraId'],
    ['a time without an offset', { startTime: '2026-01-31T08:30:00' }, 'startTime'],
    ['an unknown connection', { connectionId: UNKNOWN }, 'connectionId'],
  ])('refuses %s with 400 (section 2.5a startTime, endTime; decision 42)', async (_, fields, path) => {
    const { connectionId } = await VisionScene.create();
    const body = { connectionId, truckId: 'T', cameraId: 'front', ...RANGE, ...fields };
    const refused = await admin<ErrorBody>('POST', '/video-requests', body);
    expect([refused.status, paths(refused)]).toEqual([400, [path]]);
  });
});

const stories: Record<string, () => Promise<unknown>> = {
  'a 202 of status failed ends the request with its message (section 2.5a answer message; decision 39)': async () => {
    const vision = await VisionScene.create();
    vision.partner.on(POST, accepts({ requestId: 'r-1', status: 'failed', message: 'The camera is broken.' }));
    const shown = await vision.becomes(await vision.order(), { status: 'failed', partnerRequestId: 'r-1' });
    expect(shown.reason).toContain('The camera is broken.');
  },

  'a 202 of status ready is polled at once (section 2.5a answer status; decision 39)': async () => {
    const vision = await VisionScene.create();
    vision.prepares(() => [clip(vision, { requestId: 'r-1' })], { requestId: 'r-1', status: 'ready' });
    const id = await vision.order();
    // Without a poke of the partner.
    await eventually(async () => expect((await vision.request(id)).status).toBe('stored'), undefined, 100);
  },

  'an empty list means that the partner still prepares the video, by the id of its request (section 3 processing; section 4.5 requestId; decision 40)':
    async () => {
      const vision = await VisionScene.create();
      const clips: Element[] = [];
      vision.prepares(() => clips, { requestId: 'r-1' });
      const id = await vision.order();
      await eventually(async () => {
        await vision.nudge(id);
        expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThan(1);
      });
      expect((await vision.request(id)).status).toBe('processing');
      const [asked] = vision.partner.askedOf(VIDEOS);
      expect(Object.fromEntries(asked?.query ?? [])).toMatchObject({ customerId: 'customer-1', requestId: 'r-1' });
      clips.push(clip(vision, { requestId: 'r-1' }));
      await vision.becomes(id, { status: 'stored' });
    },

  'data.request of status failed ends the request with its message (decisions 39, 40)': async () => {
    const vision = await VisionScene.create();
    const request = { requestId: 'r-1', status: 'failed', message: 'Nothing was recorded.' };
    vision.partner.on(POST, accepts({ requestId: 'r-1' }));
    vision.partner.on(
      VIDEOS,
      lists('videos', () => [], { request }),
    );
    expect((await vision.becomes(await vision.order(), { status: 'failed' })).reason).toContain(
      'Nothing was recorded.',
    );
  },

  'data.request of status processing keeps a request open whose first clips are stored (decisions 39, 40)':
    async () => {
      const vision = await VisionScene.create();
      const half = '2026-01-31T08:32:00Z';
      const clips = [clip(vision, { requestId: 'r-1', endTime: half })];
      const request = { requestId: 'r-1', status: 'processing', message: 'one more' };
      vision.partner.on(POST, accepts({ requestId: 'r-1' }));
      vision.partner.on(VIDEOS, (response, asked) => lists('videos', () => clips, { request })(response, asked));
      const id = await vision.order();
      await vision.recordingsBecome([{ status: 'stored' }]);
      await vision.becomes(id, { status: 'processing', reason: 'one more' });
      clips.push(clip(vision, { requestId: 'r-1', startTime: half }));
      request.status = 'ready';
      expect((await vision.becomes(id, { status: 'stored' })).recordingIds).toHaveLength(2);
    },

  'three 404 in a row end a request, fewer do not (section 4.5 404; decision 41)': async () => {
    const vision = await VisionScene.create();
    const gone = refuses(404, 'NOT_FOUND', 'no such truck');
    const empty = lists('videos', () => []);
    vision.partner.on(POST, accepts());
    vision.partner.on(VIDEOS, gone, gone, empty, gone, gone, gone);
    const shown = await vision.becomes(await vision.order(), { status: 'failed' });
    expect(shown.reason).toContain('3 times in a row');
    expect(vision.partner.askedOf(VIDEOS).length).toBeGreaterThanOrEqual(6);
  },

  'the error of a poll is shown, and ends with the next answer (section 4.5 400, 401, 500)': async () => {
    const vision = await VisionScene.create();
    const clips: Element[] = [];
    vision.prepares(() => clips, { requestId: 'r-1' });
    for (const [status, code] of [
      [400, 'INVALID_PAYLOAD'],
      [500, 'INTERNAL_ERROR'],
    ] as const) {
      vision.partner.on(VIDEOS, refuses(status, code, `invalid ${status}`));
      const id = await vision.order();
      await vision.becomes(id, { reason: expect.stringContaining(`invalid ${status}`) as unknown as string });
      vision.partner.on(
        VIDEOS,
        lists('videos', () => [clip(vision, { requestId: 'r-1' })]),
      );
      expect(await vision.becomes(id, { status: 'stored' })).not.toHaveProperty('reason');
    }
  },

  'several open requests of a customer are polled by one list, and each gets its own clip (decision 41)': async () => {
    const vision = await VisionScene.create();
    const cameras = ['front', 'rear', 'left', 'right'];
    const byCamera: ScriptedReply = (response, request) => {
      const { cameraId } = JSON.parse(request.body) as { cameraId: string };
      accepts({ requestId: `r-${cameraId}` })(response, request);
    };
    vision.partner.on(POST, byCamera);
    vision.partner.on(
      VIDEOS,
      lists('videos', () => []),
    );
    const ids = await Promise.all(cameras.map((cameraId) => vision.order({ cameraId })));
    for (const id of ids)
      await eventually(async () => expect(await vision.request(id)).toMatchObject({ status: 'processing' }));
    const clips = cameras.map((cameraId) => clip(vision, { cameraId, requestId: `r-${cameraId}` }));
    vision.partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    // Without a poke, which would poll each by its own id.
    for (const id of ids)
      await eventually(async () => expect(await vision.request(id)).toMatchObject({ status: 'stored' }));
    for (const id of ids) expect((await vision.request(id)).recordingIds).toHaveLength(1);
    expect(vision.partner.askedOf(VIDEOS).some(({ query }) => !query.has('requestId'))).toBe(true);
  },

  'a long range is requested in parts; the request fails with one of them, and the others stay playable (decision 42)':
    async () => {
      const vision = await VisionScene.create();
      const part = (hour: number) => `2026-01-31T${String(hour).padStart(2, '0')}:00:00Z`;
      vision.partner.on(POST, (response, request) => {
        const { startTime } = JSON.parse(request.body) as { startTime: string };
        accepts({ requestId: startTime })(response, request);
      });
      const end = '2026-01-31T10:30:00Z';
      const clips = [
        clip(vision, { requestId: part(8), startTime: part(8), endTime: part(9) }),
        clip(vision, { requestId: part(10), startTime: part(10), endTime: end }),
      ];
      vision.partner.on(VIDEOS, (response, request) => {
        const requestId = request.query.get('requestId');
        const failed = { request: { requestId, status: 'failed', message: 'lost' } };
        lists('videos', () => clips, requestId === part(9) ? failed : {})(response, request);
      });
      const id = await vision.order({ startTime: part(8), endTime: end });
      const expected = ['stored', 'failed', 'stored'].map(
        (status, n) => expect.objectContaining({ status, startTime: part(8 + n) }) as unknown,
      );
      const shown = await eventually(
        async () => {
          const request = await vision.request(id);
          if (request.status !== 'failed') await vision.nudge(id);
          // The parts are read after the request.
          expect(request).toMatchObject({
            ...{ status: 'failed', reason: expect.stringContaining('Part 2 of 3') as unknown },
            parts: expected,
          });
          return request;
        },
        undefined,
        100,
      );
      const content = await admin('GET', `/recordings/${shown.recordingIds[0]}/content`);
      expect([shown.recordingIds.length, content.status, vision.partner.askedOf(POST).length]).toEqual([2, 200, 3]);
    },

  'an administrator has a refused request sent again, under another Idempotency-Key; a stored one is 409 (decision 54)':
    async () => {
      const vision = await VisionScene.create();
      vision.prepares(() => [clip(vision, { requestId: 'second' })]);
      vision.partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'unknown truck'), accepts({ requestId: 'second' }));
      const id = await vision.order();
      await vision.becomes(id, { status: 'failed' });
      const failed = await administer<{ data: ShownRequest[] }>(
        'GET',
        `/video-requests?connectionId=${vision.connectionId}&truckId=TRUCK-7&status=failed`,
      );
      expect(failed.data.map((shown) => shown.id)).toEqual([id]);
      expect((await admin('POST', `/video-requests/${id}/retry`)).status).toBe(202);
      await vision.becomes(id, { status: 'stored', partnerRequestId: 'second' });
      expect(vision.partner.askedOf(POST)).toHaveLength(2);
      expect(headersOf(vision, 'idempotency-key').size).toBe(2);
      expect((await admin('POST', `/video-requests/${id}/retry`)).status).toBe(409);
    },

  'a clip whose link the partner had withdrawn is fetched again when an administrator asks (decision 54)': async () => {
    const vision = await VisionScene.create();
    const refused = vision.partner.link(sampleVideo(), (_, response) => response.writeHead(410).end());
    const listed = element({ requestId: 'r-1', downloadUrl: refused });
    let clips = [listed];
    vision.prepares(() => (vision.partner.fetched.length === 0 ? clips : []), { requestId: 'r-1' });
    const id = await vision.order();
    await vision.becomes(id, { status: 'expired' });
    clips = [clip(vision, { requestId: 'r-1' })];
    vision.partner.on(
      VIDEOS,
      lists('videos', () => clips),
    );
    expect((await admin('POST', `/video-requests/${id}/retry`)).status).toBe(202);
    await vision.becomes(id, { status: 'stored' });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  },

  'the footage of twenty tickets is asked for at once, more than there are connections to the database': async () => {
    const vision = await VisionScene.create({ hauler: await Hauler.create({ sites: ONE_SITE }) });
    const { hauler, connectionId } = vision;
    vision.partner.on(POST, accepts({ status: 'failed' }));
    const setting = { truckField: 'truckNumber', connectionId, cameras: ['front'] };
    await administer('PUT', `/haulers/${hauler.id}/ticket-footage`, setting);
    const pushed = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        hauler.push({ inboundFlow: flow(`IN-${n}`, 60 * n), customFields: { truckNumber: 'TRUCK-7' } }),
      ),
    );
    const ids = pushed.map(({ body }) => body.disposalTicketId);
    const replies = await Promise.all(ids.map((id) => admin('POST', `/tickets/${id}/footage`)));
    expect(replies.map(({ status }) => status)).toEqual(ids.map(() => 202));
  },

  'a request is sent although the partner of another hauler does not answer (decision 41)': async () => {
    const [slow, vision] = await Promise.all([VisionScene.create(), VisionScene.create()]);
    let release = (): void => undefined;
    slow.partner.on(POST, when(new Promise<void>((resolve) => (release = resolve)), accepts({ status: 'failed' })));
    vision.partner.on(POST, accepts({ status: 'failed' }));
    const waiting = await Promise.all(Array.from({ length: 9 }, () => slow.order()));
    await eventually(() => expect(slow.partner.askedOf(POST)).toHaveLength(8));
    await vision.becomes(await vision.order(), { status: 'failed' });
    release();
    for (const id of waiting) await slow.becomes(id, { status: 'failed' });
  },
};

testAtOnce(
  '$name',
  Object.entries(stories).map(([name, run]) => ({ name, run })),
  ({ run }) => run(),
);
