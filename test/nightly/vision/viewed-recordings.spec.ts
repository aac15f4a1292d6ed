import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/actions.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { withoutActions } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { accepts, element, POST } from '../../support/scripted-vision.js';
import { ageViews } from '../../support/time.js';
import { useVision } from '../../support/vision-scene.js';

const DESK = { name: 'desk', token: 'token-of-the-desk-0123', role: 'viewer+video' } as const;
const vision = useVision({ ADMIN_TOKENS: [DESK] });
const video = sampleVideo();

let other: TestApp;
beforeAll(async () => {
  other = await startTestApp({ on: vision.app });
});
afterAll(() => other.close());

let recordingId: string;
beforeEach(async () => {
  const connectionId = await vision.connect();
  vision.partner.on(POST, accepts({ requestId: 'req-view' }));
  vision.listVideos(() => [element({ requestId: 'req-view', downloadUrl: vision.partner.link(video) })]);
  const { recordingIds } = await vision.becomes(await vision.order(connectionId), { status: 'stored' });
  recordingId = recordingIds[0] ?? '';
});

const actionsOf = async (resource = `recording:${recordingId}`) =>
  (await vision.app.admin<{ data: Action[] }>('GET', `/actions?resource=${resource}`)).body.data;
const named = async (resource?: string) => (await actionsOf(resource)).map(({ action, actor }) => `${action} ${actor}`);

const authorization = { Authorization: `Bearer ${DESK.token}` };
const content = (headers: Record<string, string>, query = '', url = vision.app.url, method = 'GET') =>
  fetch(`${url}/admin/v1/recordings/${recordingId}/content${query}`, { method, headers });

/** The cookie of a console session of the token. */
async function signIn(): Promise<{ Cookie: string }> {
  const { status, headers } = await vision.app.call('POST', '/console/api/session', {
    headers: { 'X-Console': '1' },
    body: { token: DESK.token },
  });
  expect(status).toBeLessThan(300);
  return { Cookie: /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '' };
}

const refusing = <T>(action: string, work: () => Promise<T>) => withoutActions(vision.app, action, work);

describe('a recording that is shown', () => {
  test('is one action for the requests of a player, also of several instances, and one more after ten minutes', async () => {
    const session = await signIn();
    const parts = Array.from({ length: 8 }, (_, i) =>
      content({ ...session, Range: `bytes=${i * 10}-` }, '', i % 2 === 0 ? vision.app.url : other.url),
    );
    expect((await Promise.all(parts)).map(({ status }) => status)).toEqual(Array(8).fill(206));
    const [viewed, ...others] = await actionsOf();
    expect(viewed).toMatchObject({
      ...{ action: 'recording.viewed', actor: 'token:desk' },
      sentence: 'The token desk viewed the recording of TRUCK-7, camera front of Test.',
    });
    expect(others).toEqual([]);
    await ageViews(vision.app);
    expect((await content(session)).status).toBe(200);
    expect(await named()).toEqual(['recording.viewed token:desk', 'recording.viewed token:desk']);
  });

  test.each(['recording.viewed', 'recording.downloaded'])('is refused while %s cannot be stored', async (action) => {
    const caller = action === 'recording.viewed' ? await signIn() : authorization;
    const refused = await refusing(action, () => content({ ...caller, Range: 'bytes=0-9' }));
    expect([refused.status, refused.headers.get('etag')]).toEqual([503, null]);
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('action log') } });
    expect((await content(caller)).status).toBe(200);
  });
});
