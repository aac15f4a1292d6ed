import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import type { TestApp } from '../../../support/app.js';
import {
  addRecording,
  becomes,
  becomesAtDeadline,
  chunk,
  DownloadScene,
  filesOf,
  listed,
} from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { serveFile } from '../../../support/file-host.js';
import { type S3Server, startS3Server } from '../../../support/s3-server.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { type AskedRequest, json, refuses, type ScriptedReply } from '../../../support/scripted-partner.js';
import { orderVideo } from '../../../support/video-requests.js';
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
  type VisionPartner,
} from '../../../support/scripted-vision.js';
import { connectVision, resetVision } from '../../../support/vision-partner.js';

let scene: DownloadScene;
let partner: VisionPartner;
let app: TestApp;
beforeAll(async () => {
  scene = await DownloadScene.start();
  partner = scene.partner;
  app = await scene.service();
});
afterAll(() => scene.stop());

/** A relink requests one recording, a subscription requests a longer window. */
const isRelink = ({ query }: AskedRequest): boolean =>
  Date.parse(query.get('endTime') ?? '') - Date.parse(query.get('startTime') ?? '') < 120_000;

/** The stored links. They are secrets, and are deleted once they are not needed. */
const storedLinks = async (app: TestApp, connectionId: string) => {
  const rows = await app.dataSource.query<{ link: string | null }[]>(
    'SELECT link FROM recordings WHERE connection_id = $1',
    [connectionId],
  );
  return rows.map(({ link }) => link);
};

describe('a link', () => {
  afterEach(() => resetVision(app, partner));

  test('without an expiry is used', async () => {
    const body = sampleVideo();
    const id = await scene.follow(app, listed({ downloadUrl: partner.link(body), expiresAt: undefined }));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({
      sizeBytes: body.length,
      sha256: sha256(body),
    });
    expect(await storedLinks(app, id)).toEqual([null]);
  });

  test.each<[string, Element]>([
    ['under another id', { id: 'a new id' }],
    ['under another name of its camera', { cameraId: '1' }],
  ])('is replaced by its own recording, %s, not by a similar one', async (_, fields) => {
    const body = sampleVideo();
    const refused = partner.link(body, (_, res) => res.writeHead(403).end());
    const id = await scene.follow(app, () => []);
    await app.dataSource.query(
      `INSERT INTO partner_camera_names (hauler_id, connection_id, truck_id, requested_name, returned_name)
       SELECT hauler_id, id, 'TRUCK-7', 'front', '1' FROM connections WHERE id = $1`,
      [id],
    );
    const own = chunk(1, partner.link(body), fields);
    const wrong = partner.link(sampleVideo(300));
    const others = [
      chunk(1, wrong, { truckId: 'TRUCK-8' }),
      chunk(2, wrong, { id: 'chunk-1' }),
      chunk(0, wrong, { id: 'chunk-1' }),
      chunk(1, wrong, { id: 'of the rear', cameraId: 'rear' }),
      chunk(1, wrong, { id: 'longer', endTime: chunk(2, wrong)['endTime'] }),
      chunk(1, wrong, { id: 'begun before', startTime: chunk(0, wrong)['startTime'] }),
    ];
    partner.on(CONTINUOUS, (response, request) => {
      if (!isRelink(request))
        return lists('recordings', () => (partner.fetched.length > 0 ? [] : [chunk(1, refused)]))(response, request);
      const page = Number(request.query.get('page'));
      const recordings = page === 1 ? [...others, own] : page === 2 ? others : [];
      json({ success: true, data: { recordings } })(response, request);
    });
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
  });

  test('is replaced if the partner has no totals, and answers 404 past the last page', async () => {
    const body = sampleVideo();
    const next = listed(
      partner.link(body, (_, res) => res.writeHead(403).end()),
      partner.link(body),
    );
    const id = await scene.follow(app, () => []);
    partner.on(CONTINUOUS, (response, request) => {
      const isFirst = request.query.get('page') === '1';
      const reply = isFirst ? json({ success: true, data: { recordings: next() } }) : refuses(404, 'NOT_FOUND');
      reply(response, request);
    });
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
  });

  describe('of a partner that lists its customer under another name', () => {
    const renamed = { customerId: 'Customer One Inc.' };
    const knows =
      (reply: ScriptedReply): ScriptedReply =>
      (response, request) => {
        const isKnown = request.query.get('customerId') === 'customer-1';
        (isKnown ? reply : refuses(404, 'NOT_FOUND', 'no such customer'))(response, request);
      };
    const replaced = () => {
      const body = sampleVideo();
      const refused = partner.link(body, (_, res) => res.writeHead(403).end());
      return { sum: sha256(body), refused, living: partner.link(body) };
    };

    test('is replaced from a new list', async () => {
      const { sum, refused, living } = replaced();
      const chunks = listed({ downloadUrl: refused, ...renamed }, { downloadUrl: living, ...renamed });
      const id = await scene.follow(app, () => []);
      partner.on(CONTINUOUS, knows(lists('recordings', chunks)));
      expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sum });
      const asked = partner.askedOf(CONTINUOUS).map(({ query }) => query.get('customerId'));
      expect(new Set(asked)).toEqual(new Set(['customer-1']));
    });

    test('is replaced from a new list of the clips of its request', async () => {
      const { sum, refused, living } = replaced();
      const clip = element({ requestId: 'R1', ...renamed });
      let listings = 0;
      partner.on(POST, accepts({ requestId: 'R1' }));
      partner.on(VIDEOS, knows(lists('videos', () => [{ ...clip, downloadUrl: listings++ > 0 ? living : refused }])));
      const { id } = await connectVision(app, partner.url);
      await orderVideo(app, id);
      expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sum });
    });
  });

  test('that has expired by our clock is tried once', async () => {
    const body = sampleVideo();
    const id = await scene.follow(app, listed({ downloadUrl: partner.link(body), expiresAt: inHours(-1) }));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
  });

  test('that has expired and is not served any more is replaced after one try', async () => {
    const dead = partner.link(sampleVideo(), (_, res) => res.writeHead(503).end());
    const living = partner.link(sampleVideo());
    const id = await scene.follow(app, listed({ downloadUrl: dead, expiresAt: inHours(-1) }, living));
    await becomes(app, id, { status: 'stored' });
    expect(partner.fetched.filter((path) => dead.endsWith(path))).toHaveLength(1);
    expect(partner.fetched.filter((path) => living.endsWith(path))).toHaveLength(1);
  });

  test('that is always refused ends in an expired recording, which an admin and a new listing revive', async () => {
    let link = partner.link(sampleVideo(), (_, res) => res.writeHead(403).end());
    let isListed = true;
    const id = await scene.follow(app, () => (isListed ? [chunk(1, link)] : []));
    const shown = await becomesAtDeadline(app, id, { status: 'expired' });
    expect(shown).toMatchObject({
      reasonCode: 'linkRefused',
      reason: expect.stringContaining('refused the link with 403'),
    });

    isListed = false;
    expect(await app.admin('POST', `/recordings/${shown.id}/retry`)).toMatchObject({ status: 202 });
    await becomes(app, id, { status: 'expired', reasonCode: 'notListed' });

    isListed = true;
    link = partner.link(sampleVideo());
    await app.admin('POST', '/video-subscriptions', { connectionId: id, truckId: 'TRUCK-7', startTime: inHours(-4) });
    expect(await becomes(app, id, { status: 'stored' })).not.toHaveProperty('reasonCode');
    expect(await app.admin('POST', `/recordings/${shown.id}/retry`)).toMatchObject({ status: 409 });
  });

  test('of a recording that is not listed any more ends in an expired recording', async () => {
    const refused = partner.link(sampleVideo(), (_, res) => res.writeHead(410).end());
    // The recording is listed until its link was tried.
    const tried = () => partner.fetched.some((path) => refused.endsWith(path));
    const id = await scene.follow(app, () => []);
    // The number may be another camera: the partner has not said that it is the front one.
    const another = lists('recordings', () => [
      chunk(1, partner.link(sampleVideo()), { id: 'of a number', cameraId: '1' }),
      chunk(1, partner.link(sampleVideo()), { cameraId: '1' }),
    ]);
    const follows = lists('recordings', () => (tried() ? [] : [chunk(1, refused)]));
    partner.on(CONTINUOUS, (response, request) => (isRelink(request) ? another : follows)(response, request));
    const { reason } = await becomes(app, id, { status: 'expired' });
    expect(reason).toContain('no longer lists the recording');
  });

  test('that expired after its file was published is not needed: the recording is stored without a request', async () => {
    const body = sampleVideo();
    const listing = [chunk(1, partner.link(body))];
    const id = await scene.follow(app, () => listing);
    await becomes(app, id, { status: 'stored' });
    listing.pop();
    const fetched = partner.fetched.length;
    // The state after a process was killed between the publication of the file and the update of the row.
    await app.dataSource.query(
      `UPDATE recordings SET status = 'available', size_bytes = NULL, sha256 = NULL, stored_at = NULL, fetch_ms = NULL,
         link = $2, expires_at = now() - interval '1 minute', due_at = now(),
         started_at = now() - interval '1 hour' WHERE connection_id = $1`,
      [id, partner.link(sampleVideo())],
    );
    await becomes(app, id, { status: 'stored', sizeBytes: body.length, sha256: sha256(body) });
    expect(partner.fetched).toHaveLength(fetched);
  });

  test('to an unavailable host fails at the deadline, with the reason', async () => {
    const id = await scene.follow(
      app,
      listed({ downloadUrl: 'http://127.0.0.1:1/away.mp4', expiresAt: inHours(100_000) }),
    );
    const shown = await becomesAtDeadline(app, id, { status: 'failed' });
    expect(shown).toMatchObject({ reasonCode: 'unreachable', reason: expect.stringContaining('refuses connections') });
    expect(await storedLinks(app, id)).toEqual([null]);
  });

  test('is requested without our key', async () => {
    const id = await scene.follow(app, listed(partner.link(sampleVideo())));
    await becomes(app, id, { status: 'stored' });
    expect(JSON.stringify(partner.files.asked)).not.toContain('the-partners-key');
  });
});

describe('300 links that expire together', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await scene.service({ env: { DOWNLOAD_CONCURRENCY_PER_CONNECTION: 16 } })));

  test.each<[string, Element]>([
    ['are refused', {}],
    ['have expired', { expiresAt: inHours(-1) }],
  ])(
    'and %s are replaced with at most 40 calls',
    async (_, fields) => {
      partner.reset();
      const body = sampleVideo();
      const link = (isAlive: boolean) =>
        partner.link(body, (request, response) =>
          isAlive ? serveFile(body)(request, response) : void response.writeHead(403).end(),
        );
      const at = (n: number) => ({
        startTime: new Date(Date.parse(inHours(-3)) + n * 10_000).toISOString(),
        endTime: new Date(Date.parse(inHours(-3)) + (n + 1) * 10_000).toISOString(),
      });
      const numbers = Array.from({ length: 300 }, (_value, n) => n);
      const dead = numbers.map((n) => chunk(n, link(false), { ...at(n), ...fields }));
      const living = numbers.map((n) => chunk(n, link(true), at(n)));
      let calls = 0;
      const id = await scene.follow(app, () => dead);
      partner.on(CONTINUOUS, (response, request) => {
        // The subscription reads three pages.
        const isRead = ++calls <= 3;
        lists('recordings', () => (isRead ? dead : living))(response, request);
      });
      await eventually(async () => {
        const [row] = await app.dataSource.query<[{ stored: number }]>(
          "SELECT count(*)::int AS stored FROM recordings WHERE connection_id = $1 AND status = 'stored'",
          [id],
        );
        expect(row.stored).toBe(300);
      }, 50_000);
      expect(calls).toBeLessThanOrEqual(3 + 40);
      await app.admin('DELETE', `/connections/${id}`);
    },
    90_000,
  );
});

describe('a link to a forbidden address', () => {
  let strict: TestApp;
  beforeAll(async () => void (strict = await scene.service({ env: { OUTBOUND_ALLOW_PRIVATE: false } })));

  test.each(['http://127.0.0.1:9/x', 'https://10.0.0.1/x', 'ftp://files.example.com/x', 'nonsense'])(
    'fails with the reason: %s',
    async (link) => {
      const { haulerId, id } = await connectVision(strict, 'https://partner.example.com');
      await addRecording(strict, haulerId, id, link);
      const { reason } = await becomes(strict, id, { status: 'failed' });
      expect(reason).toMatch(/^The link cannot be used/);
      expect(await storedLinks(strict, id)).toEqual([null]);
    },
  );
});

const sends =
  (type: string, body: string | Buffer): RequestListener =>
  (_, res) =>
    void res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ETag: '"1"' }).end(body);

/** A body of 1,000 bytes that breaks off after the given number of bytes, a number for each attempt. */
const cutAt = (...lengths: readonly number[]): RequestListener => {
  let tries = 0;
  return (_, res) => {
    res.writeHead(200, { 'Content-Length': 1_000 });
    res.write(sampleVideo(1_000).subarray(0, lengths[tries++ % lengths.length]), () =>
      setTimeout(() => res.destroy(), 5),
    );
  };
};

describe('a file', () => {
  afterEach(() => resetVision(app, partner));

  test.each<[string, RequestListener, string]>([
    ['an empty body', (_, res) => res.writeHead(200, { 'Content-Length': 0 }).end(), 'empty'],
    [
      'a compressed body',
      (_, res) => res.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': 9 }).end('123456789'),
      'compressed',
    ],
    ['a body that always breaks off at the same byte', cutAt(500), 'broke'],
    ['a body that breaks off at two bytes in turn', cutAt(500, 300), 'broke'],
    [
      'a web page',
      sends('text/html', '<html>Sign in</html>'),
      'sent as text/html, is not a valid MP4: it begins with "<html>Sign',
    ],
  ])('%s is tried again until the deadline', async (_, listener, reason) => {
    const id = await scene.follow(app, listed(partner.link(sampleVideo(), listener)));
    const shown = await becomesAtDeadline(app, id, { status: 'failed', reason: expect.stringContaining(reason) });
    expect(shown).not.toHaveProperty('sha256');
    expect((await app.admin('GET', `/recordings/${shown.id}/content`)).status).toBe(404);
    expect((await filesOf(app, 'recordings')).filter((name) => name.includes(shown.id))).toEqual([]);
    await eventually(async () =>
      expect((await filesOf(app, '.partial')).filter((name) => name.includes(shown.id))).toEqual([]),
    );
  });

  test('a host that makes progress now and then is retried', async () => {
    const body = sampleVideo(1_000);
    const lengths = [500, 500, 500, 500, 600, 600, 600];
    const cut = cutAt(...lengths);
    let tries = 0;
    const link = partner.link(body, (req, res) => (tries++ < lengths.length ? cut : serveFile(body))(req, res));
    const id = await scene.follow(app, listed(link));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
    expect(tries).toBe(lengths.length + 1);
  });

  test('an MP4 with bytes after its last box is stored, and flagged', async () => {
    const body = Buffer.concat([sampleVideo(), Buffer.from('<!-- served by x -->')]);
    const id = await scene.follow(app, listed(partner.link(body)));
    const reason = 'The file has 20 bytes after its last MP4 box.';
    expect(await becomes(app, id, { status: 'stored', reason })).toMatchObject({ sha256: sha256(body) });
  });

  test('a download that broke off requests the rest', async () => {
    const body = sampleVideo(400_000);
    let tries = 0;
    const link = partner.link(body, (req, res) =>
      serveFile(body, { etag: '"one"', ...(++tries < 3 ? { breakAfter: 150_000 } : {}) })(req, res),
    );
    const id = await scene.follow(app, listed(link));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
    expect(partner.files.asked.some(({ range }) => range !== undefined)).toBe(true);
  });

  describe('in S3', () => {
    let s3: S3Server;
    let inS3: TestApp;
    beforeAll(async () => {
      s3 = await startS3Server();
      inS3 = await scene.service({ env: { STORAGE_URL: s3.storageUrl('vision') } });
    });
    afterAll(() => s3.stop());

    test('a page is not stored', async () => {
      const id = await scene.follow(inS3, listed(partner.link(sampleVideo(), sends('text/html', '<html>no</html>'))));
      const shown = await becomesAtDeadline(inS3, id, { status: 'failed' });
      expect(shown).toMatchObject({ reasonCode: 'invalidFile', reason: expect.stringContaining('not a valid MP4') });
      expect((await inS3.admin('GET', `/recordings/${shown.id}/content`)).status).toBe(404);
    });

    test('a recording is stored and played', async () => {
      const body = sampleVideo(300_000);
      const id = await scene.follow(inS3, listed(partner.link(body)));
      const shown = await becomes(inS3, id, { status: 'stored' });
      const played = await fetch(`${inS3.url}/admin/v1/recordings/${shown.id}/content`, {
        headers: { Authorization: `Bearer ${inS3.env.ADMIN_TOKEN}` },
      });
      expect(sha256(Buffer.from(await played.arrayBuffer()))).toBe(sha256(body));
    });
  });
});
