import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import type { TestApp } from '../../support/app.js';
import { becomes, DownloadScene, filesOf, listed } from '../../support/download-scene.js';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';
import { resetVision, sha256, type VisionPartner } from '../../support/vision-partner.js';

let scene: DownloadScene;
let partner: VisionPartner;
let app: TestApp;
beforeAll(async () => {
  scene = await DownloadScene.start();
  partner = scene.partner;
  app = await scene.service();
});
afterEach(() => resetVision(app, partner));
afterAll(() => scene.stop());

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
])('%s ends the download with the reason, and leaves no file', async (_, listener, reason) => {
  const id = await scene.follow(app, listed(partner.link(sampleVideo(), listener)));
  const shown = await becomes(app, id, { status: 'failed', reason: expect.stringContaining(reason) });
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

test('a host that sends a page first is retried until it sends the MP4', async () => {
  const body = sampleVideo();
  let isReady = false;
  const link = partner.link(body, (req, res) =>
    isReady ? serveFile(body, { etag: '"1"' })(req, res) : sends('text/html', 'One moment, please')(req, res),
  );
  const id = await scene.follow(app, listed(link));
  const { reason } = await becomes(app, id, { reason: expect.any(String) });
  expect(reason).toContain('it begins with "One moment, please"');
  isReady = true;
  expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
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
    const shown = await becomes(inS3, id, { status: 'failed', reason: expect.stringContaining('not a valid MP4') });
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
