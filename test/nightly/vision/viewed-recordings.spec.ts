import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/action.dto.js';
import type { RecordingShare } from '../../../src/contracts/admin/share.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { newestExchange } from '../../support/exchange-scene.js';
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

  test('is downloaded by a token, and by a session that asks for a file; each caller counts by itself', async () => {
    const file = await content(await signIn(), '?download=true');
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="TRUCK-7-front-2026-01-31T08-30-00Z\.mp4"$/,
    );
    expect(await named()).toEqual(['recording.downloaded token:desk']);
    const plain = await content({ Authorization: `Bearer ${vision.app.env.ADMIN_TOKEN}` });
    expect([plain.status, plain.headers.get('content-disposition')]).toEqual([200, null]);
    expect(await named()).toEqual(['recording.downloaded admin', 'recording.downloaded token:desk']);
  });

  test('is no action where nothing is shown, and one where the copy of the caller is current', async () => {
    const { headers } = await content(authorization, '', undefined, 'HEAD');
    expect((await content({ ...authorization, Range: `bytes=${video.length}-` })).status).toBe(416);
    expect((await content({})).status).toBe(401);
    expect(await named()).toEqual([]);
    expect((await content({ ...authorization, 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
    expect(await named()).toEqual(['recording.downloaded token:desk']);
  });

  test.each(['recording.viewed', 'recording.downloaded'])('is refused while %s cannot be stored', async (action) => {
    const caller = action === 'recording.viewed' ? await signIn() : authorization;
    const refused = await refusing(action, () => content({ ...caller, Range: 'bytes=0-9' }));
    expect([refused.status, refused.headers.get('etag')]).toEqual([503, null]);
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('action log') } });
    expect((await content(caller)).status).toBe(200);
  });
});

test('an exchange that is shown is one action for a page that polls, and refused without it', async () => {
  const { id } = await newestExchange(vision.app, { direction: 'outbound' });
  const read = () => vision.app.call('GET', `/admin/v1/exchanges/${id}`, { headers: authorization });
  expect((await refusing('exchange.viewed', read)).status).toBe(503);
  expect([(await read()).status, (await read()).status]).toEqual([200, 200]);
  const [viewed, ...others] = await actionsOf(`exchange:${id}`);
  expect(viewed).toMatchObject({ action: 'exchange.viewed', actor: 'token:desk' });
  expect(viewed?.sentence).toMatch(/^The token desk viewed the exchange .+ of Test\.$/);
  expect(others).toEqual([]);
});

test('a view of a link is not counted if its action could not be stored, and is counted by the next one', async () => {
  const { body } = await vision.app.admin<{ url: string }>('POST', `/recordings/${recordingId}/shares`, {
    ...{ reason: 'Dispute', maxViews: 1 },
  });
  const press = () => fetch(body.url, { method: 'POST', body: new URLSearchParams() });
  const views = async () =>
    (await vision.app.admin<{ data: RecordingShare[] }>('GET', `/recordings/${recordingId}/shares`)).body.data[0]
      ?.views;
  expect((await refusing('share.viewed', press)).status).toBe(503);
  expect(await views()).toBe(0);
  expect((await press()).status).toBe(200);
  expect(await views()).toBe(1);
  expect((await actionsOf()).map(({ action }) => action)).toEqual(['share.viewed', 'createRecordingShare']);
});
