import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { openStorage } from '../../../../src/storage/open-storage.js';
import type { DownloadErrorKind } from '../../../../src/vision/downloads/download-error.js';
import type { DownloadOrder, ResumePoint } from '../../../../src/vision/downloads/download-order.js';
import { Downloader } from '../../../../src/vision/downloads/downloader.js';
import { contentOf, MIB, newName, sha256 } from '../../../shared/storage-cases.js';
import { DownloaderScene, sendsChunked, sendsRaw } from './downloader-scene.js';
import { eventually } from '../../../support/eventually.js';
import { LINK_SECRET, serveFile, startFileHost } from '../../../support/file-host.js';
import { fromSource } from '../../../support/from-source.js';
import { held, heldChild } from '../../../support/held.js';
import { FTYP, sampleVideo } from '../../../support/sample-video.js';

const body = sampleVideo(3 * MIB);
const small = sampleVideo(40_000);

let scene: DownloaderScene;
beforeAll(async () => void (scene = await DownloaderScene.start()));
afterAll(() => scene.stop());
beforeEach(() => scene.nextFile());

describe('a file that is not whole is never published', () => {
  const length = (bytes: number): string => `Content-Length: ${bytes}`;
  const html = Buffer.from('<html><body>Sign in</body></html>');

  test.each<[string, DownloadErrorKind, RequestListener, Partial<DownloadOrder>]>([
    ['cut off before its length', 'retryable', sendsRaw(length(50_000), small), {}],
    ['cut off within its chunks', 'retryable', sendsRaw('Transfer-Encoding: chunked', Buffer.from('ff\r\nabc')), {}],
    ['longer than its length', 'wrong-length', sendsRaw(length(1000), small), {}],
    ['without a visible end', 'bad-answer', sendsRaw('Connection: close', small), {}],
    ['empty', 'empty', serveFile(Buffer.alloc(0)), {}],
    ['empty, without its length', 'empty', sendsChunked(Buffer.alloc(0)), {}],
    ['shorter than any MP4', 'invalid-mp4', serveFile(Buffer.from('abc')), {}],
    ['compressed', 'bad-answer', sendsRaw(`Content-Encoding: gzip\r\n${length(40_000)}`, small), {}],
    ['announced as too large', 'too-large', serveFile(small), { limits: { maxBytes: 39_999 } }],
    ['announced as too large, and not sent', 'too-large', sendsRaw(length(40_000)), { limits: { maxBytes: 39_999 } }],
  ])('%s: %s', async (_, kind, answer, order) => {
    scene.host.answer(answer);
    expect(await scene.failure(order)).toMatchObject({ kind });
    expect(await scene.drafts()).toEqual([]);
  });

  // The response may end cleanly at its length before the further bytes arrive. Then the file lacks the end of a box.
  test('much longer than its length: wrong-length or invalid-mp4', async () => {
    scene.host.answer(sendsRaw(length(2 * MIB), body));
    const failure = await scene.failure();
    expect(failure).toMatchObject({ kind: expect.stringMatching(/^(wrong-length|invalid-mp4)$/) });
    expect(await scene.drafts()).toEqual([]);
  });

  test('endless: the download ends at the limit', async () => {
    let sent = 0;
    scene.host.answer((_, res) => {
      const more = (): void => {
        while (!res.destroyed && (sent += 65_536) && res.write(body.subarray(0, 65_536)));
      };
      res.on('drain', more);
      more();
    });
    expect(await scene.failure({ limits: { maxBytes: 2 * MIB } })).toMatchObject({ kind: 'too-large' });
    expect(sent).toBeLessThan(32 * MIB);
    expect(await scene.drafts()).toEqual([]);
  });

  test.each<[string, string, Buffer, string]>([
    [
      'a web page',
      'text/html; charset=utf-8',
      html,
      'sent as text/html, is not a valid MP4: it begins with "<html><body>Sign',
    ],
    [
      'JSON',
      'application/json',
      Buffer.from('{"error":"no"}'),
      'sent as application/json, is not a valid MP4: it begins with "{',
    ],
    ['a cut MP4', 'video/mp4', sampleVideo().subarray(0, 40_000), 'its mdat box ends 10000 bytes after the end'],
    ['an MP4 that ends before its moov box', 'video/mp4', FTYP, 'it has no moov box'],
  ])('%s: the error says what was sent', async (_, type, sent, reason) => {
    scene.host.answer((_request, res) => {
      res.writeHead(200, { 'content-type': type, 'content-length': sent.length, etag: '"v1"' }).end(sent);
    });
    const failed = await scene.failure();
    expect(failed).toMatchObject({ kind: 'invalid-mp4', message: expect.stringContaining(reason) });
    expect(await scene.drafts()).toEqual([]);
  });
});

describe('a slow host', () => {
  const head = { 'content-length': body.length, etag: '"v1"' };

  test.each<[string, RequestListener, string]>([
    ['never answers', () => undefined, 'did not answer'],
    ['stops in the middle', (_, res) => void res.writeHead(200, head).write(small), 'sent nothing'],
  ])('that %s is retried later', async (_, answer, words) => {
    scene.host.answer(answer);
    const started = Date.now();
    const failed = await scene.failure({ limits: { firstByteMs: 150, idleMs: 150 } });
    expect(failed).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
    expect(Date.now() - started).toBeLessThan(2_000);
  });

  test('that never finishes the TLS handshake is retried later', async () => {
    const silent = createTcpServer((socket) => held(async () => void socket.destroy())).listen(0, '127.0.0.1');
    const stop = held(async () => void silent.close());
    await once(silent, 'listening');
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/x?${LINK_SECRET}`;
    const downloader = new Downloader(scene.storage, { allowPrivate: true, connectMs: 150 });
    await expect(downloader.download({ url, name: newName() })).rejects.toMatchObject({
      kind: 'retryable',
      message: '127.0.0.1 could not be reached: it does not answer.',
    });
    await stop();
  });

  test('that sends a few bytes per second is retried later', async () => {
    scene.host.answer((_, res) => {
      res.writeHead(200, head);
      res.write(small.subarray(0, 1_000));
      const drip = setInterval(() => (res.destroyed ? clearInterval(drip) : res.write('x')), 20);
    });
    const limits = { firstByteMs: 800, idleMs: 800, slowMs: 200, minBytesPerSecond: 20_000 };
    const failed = await scene.failure({ limits });
    expect(failed).toMatchObject({ kind: 'retryable', message: expect.stringContaining('slowly') });
  });

  test('that is fast enough is waited for', async () => {
    scene.host.answer((_, res) => {
      res.writeHead(200, { 'content-length': small.length });
      let sent = 0;
      const send = setInterval(() => {
        res.write(small.subarray(sent, (sent += 4_000)));
        if (sent >= small.length) clearInterval(send);
      }, 60);
    });
    const limits = { firstByteMs: 800, idleMs: 800, slowMs: 400, minBytesPerSecond: 1_000 };
    await scene.expectStored(await scene.download({ limits }), small);
  });
});

describe('a response without a file', () => {
  test.each<[number, DownloadErrorKind, Record<string, string>, number | undefined]>([
    [403, 'link-refused', {}, undefined],
    [410, 'link-refused', {}, undefined],
    [429, 'retryable', { 'retry-after': '7' }, 7000],
    [503, 'retryable', { 'retry-after': '120' }, 120_000],
    [503, 'retryable', { 'retry-after': 'soon' }, undefined],
    [400, 'link-refused', {}, undefined],
    [202, 'retryable', { 'retry-after': '3' }, 3_000],
    [404, 'retryable', { 'retry-after': '3' }, 3_000],
    [204, 'bad-answer', {}, undefined],
    [206, 'bad-answer', {}, undefined],
    [206, 'bad-answer', { 'content-range': 'bytes 0-9/10' }, undefined],
    [416, 'bad-answer', {}, undefined],
    [304, 'bad-answer', {}, undefined],
    [302, 'bad-answer', {}, undefined],
    [300, 'bad-answer', { location: '/next' }, undefined],
  ])('%i: %s', async (status, kind, headers, retryAfterMs) => {
    const asked = Date.now();
    scene.host.answer((_, res) => res.writeHead(status, headers).end());
    const failure = await scene.failure();
    expect(failure.kind).toBe(kind);
    if (retryAfterMs === undefined) expect(failure.retryAt).toBeUndefined();
    else expect(Math.abs((failure.retryAt?.getTime() ?? 0) - asked - retryAfterMs)).toBeLessThan(5_000);
    expect(scene.host.asked).toHaveLength(1);
  });

  test('101, a change of protocol that was not requested: bad-answer', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    scene.host.answer((_, { socket }) => {
      socket?.once('close', () => resolve());
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const message = expect.stringContaining('answered 101 instead of the file');
    expect(await scene.failure()).toMatchObject({ kind: 'bad-answer', message });
    await closed;
  });

  test('a host that is away or unknown: retryable', async () => {
    const gone = await startFileHost();
    await gone.stop();
    expect(await scene.failure({ url: gone.link })).toMatchObject({ kind: 'retryable' });
    const unknown = `https://no-such-host.invalid/a?${LINK_SECRET}`;
    expect(await scene.failure({ url: unknown })).toMatchObject({ kind: 'retryable' });
  });
});

describe('redirects', () => {
  let ended = 0;
  beforeEach(() => void (ended = 0));
  const hops = (...statuses: number[]): RequestListener => {
    const left = [...statuses];
    return (req, res) => {
      const status = left.shift();
      if (status === undefined) return serveFile(small)(req, res);
      res.once('close', () => (ended += 1));
      // The body of a redirect is not read to its end.
      res.writeHead(status, { location: `/next?${LINK_SECRET}` }).write('x');
    };
  };

  test.each([[[301, 302, 303]], [[307, 308]]])('%j are followed', async (statuses) => {
    scene.host.answer(hops(...statuses));
    await scene.expectStored(await scene.download(), small);
    expect(scene.host.asked).toHaveLength(statuses.length + 1);
    await eventually(() => expect(ended).toBe(statuses.length));
  });

  test('more than three are refused', async () => {
    scene.host.answer(hops(302, 302, 302, 302));
    const message = expect.stringContaining('redirects');
    expect(await scene.failure()).toMatchObject({ kind: 'bad-answer', message });
  });

  test.each(['ftp://127.0.0.1/file', `http://user:${LINK_SECRET}@127.0.0.1/file`, `http://[broken?${LINK_SECRET}`])(
    'to %s are refused',
    async (location) => {
      scene.host.answer((_, res) => res.writeHead(302, { location }).end());
      expect(await scene.failure()).toMatchObject({ kind: 'address-refused', keepsBytes: false });
    },
  );
});

describe('without OUTBOUND_ALLOW_PRIVATE (decision 50)', () => {
  test.each([
    ['an http address', () => scene.host.link],
    ['a private address', () => scene.host.link.replace('http:', 'https:')],
    ['a name of this machine', () => scene.host.link.replace('http://127.0.0.1', 'https://localhost')],
    ['a user name', () => `https://user@video.example.com/clip.mp4?${LINK_SECRET}`],
    ['no host', () => `//?${LINK_SECRET}`],
  ])('a link with %s is refused before anything is sent', async (_, url) => {
    const root = await mkdtemp(join(tmpdir(), 'haulbridge-guard-'));
    const downloader = new Downloader(await openStorage(`file:${root}`), { allowPrivate: false });
    await expect(downloader.download({ url: url(), name: newName() })).rejects.toMatchObject({
      kind: 'address-refused',
      keepsBytes: false,
      message: expect.not.stringContaining(LINK_SECRET),
    });
    expect(scene.host.asked).toEqual([]);
    expect(await readdir(root)).toEqual([]);
    await rm(root, { recursive: true });
  });

  test.each([
    ['a private address', 'https://127.0.0.1/x', 'not a public one'],
    ['plain http', 'http://video.example.com/x', 'https://'],
    ["the address of a cloud's credentials", 'https://169.254.169.254/latest/meta-data', 'not a public one'],
  ])('a redirect to %s is refused', async (_, location, words) => {
    // The host of this test is private: the rule holds from its response on.
    const policy = { allowPrivate: true };
    scene.host.answer((_req, res) => {
      policy.allowPrivate = false;
      res.writeHead(302, { location }).end();
    });
    const downloaded = new Downloader(scene.storage, policy).download({ url: scene.host.link, name: scene.name });
    await expect(downloaded).rejects.toMatchObject({
      kind: 'address-refused',
      message: expect.stringContaining(words),
    });
    expect(scene.host.asked).toHaveLength(1);
  });
});

const CHILD = fromSource('test/integration/vision/downloads/download-child.mjs');
const largeBody = sampleVideo(7 * MIB);

describe('a process that is killed during a download', () => {
  const start = (): ChildProcess =>
    heldChild(spawn(process.execPath, [...CHILD, `file:${scene.root}`, scene.host.link, scene.name]));

  async function kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  test('resumes from its last checkpoint, and leaves nothing', async () => {
    scene.host.answer((_, res) => {
      res.writeHead(200, { 'content-length': largeBody.length, etag: '"v1"' });
      let sent = 2 * MIB;
      res.write(largeBody.subarray(0, sent));
      // Checkpoints are a second apart, and are made when bytes arrive: some do until the process is killed.
      const send = setInterval(() => {
        res.write(largeBody.subarray(sent, (sent += 32_768)));
        if (sent > 6 * MIB) clearInterval(send);
      }, 100);
      res.once('close', () => clearInterval(send));
    });
    const child = start();
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
    await kill(child);
    const resume = JSON.parse(line) as ResumePoint;
    expect(resume.bytes).toBeGreaterThanOrEqual(2 * MIB - 65_536);
    expect(await scene.storage.stat(scene.name)).toBeUndefined();
    scene.host.asked.length = 0;
    scene.host.answer(serveFile(largeBody, { etag: '"v1"' }));
    const downloaded = await scene.download({ resume });
    expect(downloaded.resumedFrom).toBe(resume.bytes);
    expect(scene.host.asked[0]?.range).toBe(`bytes=${resume.bytes}-`);
    await scene.expectStored(downloaded, largeBody);
  });

  test('starts from zero before its first checkpoint, and leaves nothing', async () => {
    scene.host.answer((_, res) => {
      res.writeHead(200, { 'content-length': largeBody.length });
      res.write(largeBody.subarray(0, 2 * MIB));
    });
    const child = start();
    await eventually(async () => expect(await scene.drafts()).not.toEqual([]));
    await kill(child);
    expect(await scene.drafts()).not.toEqual([]);
    scene.host.answer(serveFile(largeBody));
    await scene.expectStored(await scene.download(), largeBody);
  });
});

describe('over TLS', () => {
  const tls = join(import.meta.dirname, '../../../support/tls');
  let answer: RequestListener;
  let server: Server;
  let link: string;
  beforeAll(async () => {
    const [key, cert] = await Promise.all(
      ['key.pem', 'certificate.pem'].map((name) => readFile(join(tls, name), 'utf8')),
    );
    server = createServer({ key, cert }, (req, res) => answer(req, res)).listen(0);
    await once(server, 'listening');
    link = `https://localhost:${(server.address() as AddressInfo).port}/clip.mp4?sig=1`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Runs in a process of its own, because Node.js reads trusted certificates at its start. Returns the printed lines. */
  async function download(
    ...resume: string[]
  ): Promise<{ readonly lines: readonly string[]; readonly stderr: string }> {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(tls, 'certificate.pem') };
    const args = [...CHILD, `file:${scene.root}`, link, scene.name, ...resume];
    const printed = await promisify(execFile)(process.execPath, args, { env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return { lines: printed.stdout.trim().split('\n'), stderr: printed.stderr };
  }

  test('a file is downloaded, interrupted and resumed', async () => {
    answer = serveFile(largeBody, { etag: '"v1"', breakAfter: 3 * MIB });
    const { lines, stderr } = await download();
    expect(stderr).toContain("kind: 'retryable'");
    const point = JSON.parse(lines.at(-1) ?? '') as ResumePoint;
    expect(point.bytes).toBeGreaterThan(2 * MIB);
    answer = serveFile(largeBody, { etag: '"v1"' });
    const resumed = await download(JSON.stringify(point));
    expect(JSON.parse(resumed.lines.at(-1) ?? '')).toMatchObject({
      size: largeBody.length,
      sha256: sha256(largeBody),
      resumedFrom: point.bytes,
    });
    expect((await contentOf(scene.storage, scene.name)).equals(largeBody)).toBe(true);
  });

  test('a certificate that is not trusted is reported, and can be retried', async () => {
    answer = serveFile(largeBody);
    const downloader = new Downloader(scene.storage, { allowPrivate: true });
    await expect(downloader.download({ url: link, name: newName() })).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringMatching(/^localhost could not be reached: its certificate/),
    });
  });
});
