import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { runDue, startTestApp, type TestApp, type TestAppOptions } from './app.js';
import { eventually } from './eventually.js';
import { orderVideo, readRequest, requestBecomes, type ShownRequest } from './video-requests.js';
import { CONTINUOUS, type Element, lists, startVisionPartner, VIDEOS, type VisionPartner } from './scripted-vision.js';
import { readPoll } from './rows.js';
import { endDeadlines, hurryVideo } from './time.js';
import { connectVision, resetVision } from './vision-partner.js';

/** The service and a scripted Vision partner. A spec file calls `useVision()` once, at its top. */
export interface VisionScene {
  readonly app: TestApp;
  readonly partner: VisionPartner;
  /** The connection that `connect` has stored last. */
  readonly connectionId: string;
  readonly haulerId: string;
  readonly connect: () => Promise<string>;
  /** Requests a video from a connection. Returns the id of the request. */
  readonly order: (connectionId: string, fields?: object) => Promise<string>;
  readonly read: (requestId: string) => Promise<ShownRequest>;
  /** Waits until the request is as expected. All work is due at once meanwhile. */
  readonly becomes: (requestId: string, expected: object) => Promise<ShownRequest>;
  /** Makes all work due, and lets the service claim it. */
  readonly hurry: () => Promise<void>;
  /** From now on the partner lists these clips. */
  readonly listVideos: (items: () => readonly Element[], more?: Element) => void;
  /** From now on the partner lists these continuous recordings. */
  readonly listRecordings: (items: () => readonly Element[]) => void;
  readonly endDeadline: () => Promise<unknown>;
}

export function useVision(env: TestAppOptions['env'] = {}, options: Pick<TestAppOptions, 'ticks'> = {}): VisionScene {
  let app: TestApp;
  let partner: VisionPartner;
  let connection = { id: '', haulerId: '' };
  beforeAll(async () => {
    app = await startTestApp({ ...options, env: { OUTBOUND_ALLOW_PRIVATE: true, ...env } });
    partner = await startVisionPartner();
  });
  afterEach(() => resetVision(app, partner));
  afterAll(async () => {
    await app.close();
    await partner.stop();
  });
  return {
    get app() {
      return app;
    },
    get partner() {
      return partner;
    },
    get connectionId() {
      return connection.id;
    },
    get haulerId() {
      return connection.haulerId;
    },
    connect: async () => (connection = await connectVision(app, partner.url)).id,
    order: (connectionId, fields) => orderVideo(app, connectionId, fields),
    read: (requestId) => readRequest(app, requestId),
    becomes: (requestId, expected) => requestBecomes(app, requestId, expected),
    hurry: () => hurryVideo(app),
    listVideos: (items, more) => partner.on(VIDEOS, lists('videos', items, more)),
    listRecordings: (items) => partner.on(CONTINUOUS, lists('recordings', items)),
    // PostgreSQL may end one of two statements that lock the same rows.
    endDeadline: () => eventually(() => endDeadlines(app)),
  };
}

/** Waits until the poll of the customer has ended, and the next one is not due. One that became due meanwhile is started. */
export const pollsEnded = ({ app }: VisionScene) =>
  eventually(async () => {
    const poll = await readPoll(app);
    if (!poll.isRunning && !poll.isIdle) runDue(app, 'vision poll');
    expect(poll).toMatchObject({ isIdle: true });
  });
