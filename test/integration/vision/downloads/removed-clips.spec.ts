import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Retention } from '../../../../src/vision/recordings/retention.job.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { listExchanges } from '../../../support/exchange-scene.js';
import { serveFile } from '../../../support/file-host.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { orderVideo, RANGE, readRequest, requestBecomes } from '../../../support/video-requests.js';
import {
  accepts,
  element,
  lists,
  POST,
  sha256,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../../../support/scripted-vision.js';
import { ageFiles } from '../../../support/time.js';
import { connectVision } from '../../../support/vision-partner.js';

let app: TestApp;
let partner: VisionPartner;
let connectionId: string;
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, VIDEO_RETENTION_DAYS: 30 } });
  partner = await startVisionPartner();
  ({ id: connectionId } = await connectVision(app, partner.url));
});
afterAll(async () => {
  await app.close();
  await partner.stop();
});

/** A stored request of one part, whose clips have these links. */
async function storedRequest(requestId: string, ...links: string[]): Promise<string> {
  partner.on(POST, accepts({ requestId }));
  const clips = links.map((downloadUrl, i) => {
    const times = { startTime: `2026-01-31T08:3${i}:00Z`, endTime: `2026-01-31T08:3${i + 1}:00Z` };
    return element({ requestId, id: `${requestId}-${i}`, downloadUrl, ...times });
  });
  partner.on(
    VIDEOS,
    lists('videos', () => clips, { request: { requestId, status: 'ready' } }),
  );
  const id = await orderVideo(app, connectionId);
  await requestBecomes(app, id, { status: 'stored' });
  return id;
}

describe('a clip whose file was deleted by retention', () => {
  test('is expired with its request, which names the reason and the way back', async () => {
    const id = await storedRequest('removed', partner.link(sampleVideo(1_000)), partner.link(sampleVideo(2_000)));
    const [first = '', second = ''] = (await readRequest(app, id)).recordingIds;
    await ageFiles(app, 31, [first]);
    expect(await app.app.get(Retention, { strict: false }).run()).toMatchObject({ recordings: 1 });
    const why = {
      status: 'expired',
      reasonCode: 'fileRemoved',
      reason: expect.stringMatching(/deleted 30 days after .* Request a clip of this range to get it again/),
    };
    const request = await readRequest(app, id);
    expect(request).toMatchObject({ ...why, parts: [why], recordingIds: [first, second] });
    expect((await app.admin('GET', `/recordings/${first}`)).body).toMatchObject(why);
    const kept = (await app.admin('GET', `/recordings/${second}`)).body;
    expect(kept).toMatchObject({ status: 'stored' });
    expect(kept).not.toHaveProperty('reasonCode');
    const query = `connectionId=${connectionId}&status=expired`;
    const { body } = await app.admin<{ data: { id: string }[] }>('GET', `/video-requests?${query}`);
    expect(body.data.map((each) => each.id)).toEqual([id]);
    const history = await app.admin<{ data: { text: string }[] }>('GET', `/video-requests/${id}/history`);
    expect(history.body.data[0]?.text).toContain('The state is expired. The file was deleted');
  });

  test('the same range can be requested again', async () => {
    const again = await storedRequest('again', partner.link(sampleVideo(1_000)));
    expect(await readRequest(app, again)).toMatchObject({ status: 'stored', ...RANGE });
    expect(await readRequest(app, again)).not.toHaveProperty('reasonCode');
  });
});

test('the exchange of a download reports the bytes that were received, also of an attempt that broke off', async () => {
  const body = sampleVideo(300_000);
  const etag = `"${sha256(body)}"`;
  let attempts = 0;
  const link = partner.link(body, (request, response) => {
    if (attempts++ > 0) return serveFile(body, { etag })(request, response);
    response.writeHead(200, { etag, 'content-length': body.length, 'accept-ranges': 'bytes' });
    response.write(body.subarray(0, 100_000));
    // A reset at once could discard bytes that have not been read yet.
    setTimeout(() => response.destroy(), 500);
  });
  const id = await storedRequest('counted', link);
  const [recordingId = ''] = (await readRequest(app, id)).recordingIds;
  await eventually(async () => {
    const found = (await listExchanges(app, { reference: `recordingId:${recordingId}` })).body.data;
    const bytes = found.map(({ status, responseBytes }) => [status, responseBytes]);
    // The second attempt received the rest.
    expect(bytes).toEqual([
      [206, 200_000],
      [200, 100_000],
    ]);
  });
});
