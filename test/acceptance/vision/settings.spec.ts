import { beforeAll, expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { refuses } from '../../support/scripted-partner.js';
import {
  accepts,
  CONTINUOUS,
  element,
  type Element,
  inHours,
  lists,
  POST,
  sha256,
  VIDEOS,
  within,
} from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import type { Plain } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

/** What ends or begins after a time, in a service whose times are short. */
let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({
    env: {
      VISION_REQUEST_DEADLINE: '8s',
      VISION_DOWNLOAD_DEADLINE: '5s',
      VISION_FIRST_BYTE_TIMEOUT: '1s',
      VISION_REREAD: '10s/0 6h/1s',
    },
  });
});

/** Fails where the service did not start: it must not be another one. */
const create = (connection: Plain = {}) =>
  VisionScene.create({ service: { url: service.url, adminToken: service.adminToken }, connection });
const retry = (path: string) => admin('POST', `${path}/retry`, undefined, service);

const chunk = (downloadUrl: string, fields: Element = {}): Element =>
  element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl, ...fields });

/** Answers three seconds late. */
const late =
  (file: Buffer): Parameters<VisionScene['partner']['link']>[1] =>
  (request, response) =>
    void setTimeout(() => serveFile(file)(request, response), 3_000);

const stories: Record<string, () => Promise<unknown>> = {
  'a request ends as expired at VISION_REQUEST_DEADLINE, with the last answer, and an administrator revives it (decisions 41, 54)':
    async () => {
      const vision = await create();
      // It is polled at once, and no poke or change of the connection makes it forget the answer.
      vision.partner.on(POST, accepts({ requestId: 'r-1', status: 'ready' }));
      vision.partner.on(VIDEOS, refuses(500, 'INTERNAL_ERROR', 'not yet'));
      const id = await vision.order();
      const reason = expect.stringMatching(/deadline.* Last response: .*not yet/);
      const expired = { status: 'expired', reason };
      await eventually(async () => expect(await vision.request(id)).toMatchObject(expired), undefined, 100);
      vision.partner.on(
        VIDEOS,
        lists('videos', () => [element({ requestId: 'r-1', downloadUrl: vision.partner.link(sampleVideo(1_000)) })]),
      );
      expect(await retry(`/video-requests/${id}`)).toMatchObject({ status: 202 });
      await vision.becomes(id, { status: 'stored' });
      expect(vision.partner.askedOf(POST)).toHaveLength(1);
    },

  'a request that the partner does not accept before the deadline ends as expired (decision 41)': async () => {
    const vision = await create();
    vision.partner.on(POST, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '80000' }));
    expect((await vision.becomes(await vision.order(), { status: 'expired' })).reason).toContain('had not accepted');
  },

  'clips that were stored before the deadline stay playable (decision 42)': async () => {
    const vision = await create();
    const half = element({ endTime: '2026-01-31T08:32:00Z', downloadUrl: vision.partner.link(sampleVideo(1_000)) });
    vision.prepares(() => [{ ...half, requestId: 'r-1' }], { requestId: 'r-1' });
    const request = { requestId: 'r-1', status: 'processing' };
    vision.partner.on(
      VIDEOS,
      lists('videos', () => [{ ...half, requestId: 'r-1' }], { request }),
    );
    const { recordingIds, reason } = await vision.becomes(await vision.order(), { status: 'expired' });
    expect(reason).toContain('the whole video');
    expect((await admin('GET', `/recordings/${recordingIds[0]}/content`, undefined, service)).status).toBe(200);
  },

  'a recording is given up after VISION_DOWNLOAD_DEADLINE, with the reason, and an administrator revives it (decisions 47, 54)':
    async () => {
      const vision = await create();
      const file = sampleVideo();
      let isBroken = true;
      const link = vision.partner.link(file, (request, response) =>
        isBroken ? void response.writeHead(503).end() : serveFile(file)(request, response),
      );
      const listed = chunk(link);
      vision.partner.on(
        CONTINUOUS,
        lists('recordings', () => [listed]),
      );
      const id = await vision.follow({ startTime: inHours(-3) });
      await eventually(async () =>
        expect(await vision.recordings()).toMatchObject([{ reason: expect.stringContaining('503') }]),
      );
      // A listing would revive it.
      await admin('DELETE', `/video-subscriptions/${id}`, undefined, service);
      const [failed] = await vision.recordingsBecome([{ status: 'failed', reason: expect.stringContaining('503') }]);
      isBroken = false;
      expect((await retry(`/recordings/${failed?.id}`)).status).toBe(202);
      await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
    },

  'a host that sends nothing for VISION_FIRST_BYTE_TIMEOUT is tried again; a connection may have its own time (decision 47)':
    async () => {
      const file = sampleVideo();
      const [vision, patient] = await Promise.all([create(), create({ firstByteTimeoutSeconds: 30 })]);
      for (const { partner } of [vision, patient]) {
        const listed = chunk(partner.link(file, late(file)));
        partner.on(
          CONTINUOUS,
          lists('recordings', () => [listed]),
        );
      }
      for (const each of [vision, patient]) await each.follow({ startTime: inHours(-3) });
      await patient.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
      await eventually(() => expect(vision.partner.fetched.length).toBeGreaterThan(1));
      expect(await vision.recordings()).not.toMatchObject([{ status: 'stored' }]);
    },

  'footage that is listed hours late is found by the re-readings of VISION_REREAD (decision 48)': async () => {
    const vision = await create();
    const listed: Element[] = [];
    vision.partner.on(CONTINUOUS, within(listed));
    const id = await vision.follow({ startTime: inHours(-3) });
    await vision.isRead(id);
    listed.push(chunk(vision.partner.link(sampleVideo(1_000)), { id: 'late' }));
    await vision.recordingsBecome([{ status: 'stored', partnerRecordingId: 'late' }]);
  },
};

testAtOnce(
  '$name',
  Object.entries(stories).map(([name, run]) => ({ name, run })),
  ({ run }) => run(),
);
