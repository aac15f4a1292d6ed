import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/storage/download/downloader.js';
import { DownloadFailed, type DownloadFailureKind } from '../../src/storage/download/download-failure.js';
import type { Downloaded, DownloadOrder } from '../../src/storage/download/download-order.js';
import type { Storage } from '../../src/storage/storage.js';
import { eventually } from '../support/eventually.js';
import { box, film, FTYP, MOOV } from '../support/films.js';
import { type FileHost, LINK_SECRET, serveFile, startFileHost } from '../support/file-host.js';
import { held, heldChild } from '../support/held.js';
import { contentOf, MIB, newName, sha256, type StorageUnderTest } from './storage-cases.js';

/** More than one part of an S3 upload, and not much more: the S3 server of the tests is slow. */
const body = randomBytes(7 * MIB);
const small = randomBytes(40_000);
// A pause of this machine must not look like the host's.
const patient = { idleMs: 800, slowMs: 200 };

const chunked =
  (body: Buffer): RequestListener =>
  (_, res) => {
    res.flushHeaders();
    res.end(body);
  };

/** Writes bytes as they are, past every rule of HTTP. */
const raw =
  (head: string, ...pieces: Buffer[]): RequestListener =>
  (_, { socket }) => {
    socket?.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
    for (const piece of pieces) socket?.write(piece);
    socket?.end();
  };

/** Of one file alone, so that a failing test does not fail the next one. */
const leftoversOf = async ({ leftovers }: StorageUnderTest, name: string): Promise<string[]> =>
  (await leftovers()).filter((found) => found.includes(name.slice(-40)));

const downloadInto = (storage: Storage, order: DownloadOrder): Promise<Downloaded> =>
  createDownloader(storage, { allowPrivate: true }).download(order);

async function expectStored(given: StorageUnderTest, name: string, got: Downloaded, expected: Buffer): Promise<void> {
  expect(got).toMatchObject({ size: expected.length, sha256: sha256(expected) });
  expect((await contentOf(given.storage, name)).equals(expected)).toBe(true);
  expect(await leftoversOf(given, name)).toEqual([]);
}

/** Whatever a storage is made of, downloads into it behave so. */
export function downloadCases(given: () => StorageUnderTest): void {
  let host: FileHost;
  let name: string;
  beforeAll(async () => void (host = await startFileHost()));
  afterAll(() => host.stop());
  beforeEach(() => {
    host.asked.length = 0;
    name = newName();
  });
  // What is kept for another attempt is none of the other tests' leftovers.
  afterEach(async () => {
    if ((await leftovers()).length > 0) await (await given().storage.writer(name, { resume: false })).discard();
  });

  const leftovers = (): Promise<string[]> => leftoversOf(given(), name);

  const download = (order: Partial<DownloadOrder> = {}): Promise<Downloaded> =>
    downloadInto(given().storage, { url: host.link, name, ...order });

  async function failure(order: Partial<DownloadOrder> = {}): Promise<DownloadFailed> {
    const error: unknown = await download(order).then(
      () => 'no failure',
      (failed: unknown) => failed,
    );
    expect(error).toBeInstanceOf(DownloadFailed);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(LINK_SECRET);
    expect(await given().storage.stat(name)).toBeUndefined();
    return error as DownloadFailed;
  }

  const expectWhole = (got: Downloaded, expected: Buffer): Promise<void> => expectStored(given(), name, got, expected);

  /** A first attempt that breaks in the middle, so that some of the file is kept where it can be. */
  async function breakOff(answer: Parameters<typeof serveFile>[1], content: Buffer = body): Promise<void> {
    host.answer(serveFile(content, { ...answer, breakAfter: 6 * MIB }));
    expect(await failure()).toMatchObject({ kind: 'retryable', keepsBytes: true });
    host.asked.length = 0;
  }

  describe('a whole file', () => {
    test.each([
      ['with its length', serveFile(body, { etag: '"v1"' }), body],
      ['small', serveFile(small, { etag: '"v1"' }), small],
      ['in chunks of unknown number', chunked(small), small],
    ])('%s', async (_, answer, expected) => {
      host.answer(answer);
      await expectWhole(await download({ limits: { maxBytes: expected.length } }), expected);
    });

    test('tells how it goes on', async () => {
      host.answer(serveFile(body));
      const seen: number[] = [];
      await download({ onReceived: (bytes) => seen.push(bytes) });
      expect(seen.length).toBeGreaterThan(6);
      expect(seen.at(-1)).toBe(body.length);
    });

    test('is asked for plainly: no key, no cookie, no compression, over a connection of its own', async () => {
      host.answer(serveFile(small));
      await download();
      expect(Object.keys(host.asked[0] ?? {}).sort()).toEqual([
        'accept',
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
      expect(host.asked[0]).toMatchObject({ 'accept-encoding': 'identity', connection: 'close' });
    });
  });

  describe('an interrupted file is continued', () => {
    const monday = 'Mon, 01 Jan 2024 00:00:00 GMT';

    test.each([
      ['by its ETag', { etag: '"v1"' }, '"v1"'],
      ['by its time of change', { lastModified: monday }, monday],
    ])('%s', async (_, answer, validator) => {
      await breakOff(answer);
      host.answer(serveFile(body, answer));
      const got = await download();
      expect(got.resumedFrom).toBeGreaterThanOrEqual(5 * MIB);
      expect(host.asked).toEqual([expect.objectContaining({ 'if-range': validator })]);
      expect(host.asked[0]?.range).toBe(`bytes=${got.resumedFrom}-`);
      await expectWhole(got, body);
    });

    test.each<[string, number, DownloadFailureKind]>([
      ['is shorter than its range', -1, 'retryable'],
      ['is longer than its range', 1, 'wrong-length'],
    ])('but not where the rest %s', async (_, more, kind) => {
      await breakOff({ etag: '"v1"' });
      host.answer((req, res) => {
        const from = Number(/\d+/.exec(req.headers.range ?? '')?.[0]);
        res.writeHead(206, { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
        res.end(Buffer.alloc(body.length - from + more));
      });
      expect(await failure()).toMatchObject({ kind });
    });

    test('with a link that is signed anew', async () => {
      await breakOff({ etag: '"v1"' });
      host.answer((_, res) => res.writeHead(403).end());
      expect(await failure()).toMatchObject({ kind: 'link-refused', keepsBytes: true });
      host.answer(serveFile(body, { etag: '"v1"' }));
      const got = await download({ url: host.link.replace('top', 'other') });
      expect(got.resumedFrom).toBeGreaterThan(0);
      await expectWhole(got, body);
    });

    test('without a request where only its publication was missing', async () => {
      const whole = randomBytes(10 * MIB);
      const writer = await given().storage.writer(name);
      await writer.begin({ validator: '"v1"', total: whole.length });
      await writer.append(whole);
      await writer.suspend();
      const seen: number[] = [];
      await expectWhole(await download({ onReceived: (bytes) => seen.push(bytes) }), whole);
      expect(host.asked).toEqual([]);
      expect(seen).toEqual([whole.length]);
    });

    test('after the signal stopped it', async () => {
      const stop = new AbortController();
      host.answer((_, res) => {
        res.writeHead(200, { etag: '"v1"', 'content-length': body.length });
        res.write(body.subarray(0, 6 * MIB));
      });
      const onReceived = (bytes: number): void => void (bytes > 5.5 * MIB && stop.abort());
      expect(await failure({ signal: stop.signal, onReceived })).toMatchObject({ kind: 'cancelled' });
      host.answer(serveFile(body, { etag: '"v1"' }));
      const got = await download();
      expect(got.resumedFrom).toBeGreaterThan(0);
      await expectWhole(got, body);
    });
  });

  describe('an interrupted file is fetched from zero', () => {
    const other = randomBytes(7 * MIB);
    const part =
      (headers: Record<string, string>, from = 0): RequestListener =>
      (req, res) => {
        if (req.headers.range === undefined) return serveFile(other, { etag: '"v2"' })(req, res);
        const rest = other.subarray(from || Number(/\d+/.exec(req.headers.range)?.[0]));
        const start = other.length - rest.length;
        const contentRange = `bytes ${start}-${other.length - 1}/${other.length}`;
        res.writeHead(206, { 'content-length': rest.length, 'content-range': contentRange, ...headers }).end(rest);
      };

    test.each<[string, RequestListener, number]>([
      ['its ETag has changed', serveFile(other, { etag: '"v2"' }), 1],
      ['the host knows no ranges', serveFile(other, { etag: '"v1"', ranges: false }), 1],
      ['the host sends a range of another file', part({ etag: '"v2"' }), 2],
      ['the range is another one than asked for', part({ etag: '"v1"' }, 1000), 2],
      ['the total has changed', part({ etag: '"v1"', 'content-range': 'bytes 5242880-7340031/7340099' }), 2],
      ['the range is compressed', part({ etag: '"v1"', 'content-encoding': 'gzip' }), 2],
      [
        'the host names the range asked for, and sends another file whole',
        (req, res) => {
          const from = /\d+/.exec(req.headers.range ?? '')?.[0];
          res.setHeader('content-range', `bytes ${from}-${other.length - 1}/${other.length}`);
          res.writeHead(200).end(other);
        },
        1,
      ],
      ['the range is not named', part({ etag: '"v1"', 'content-range': 'none' }), 2],
      [
        'the host finds the range outside',
        (req, res) =>
          req.headers.range === undefined ? serveFile(other, { etag: '"v2"' })(req, res) : res.writeHead(416).end(),
        2,
      ],
    ])('where %s', async (_, answer, requests) => {
      await breakOff({ etag: '"v1"' });
      host.answer(answer);
      const got = await download();
      expect(host.asked).toHaveLength(requests);
      expect(got.resumedFrom).toBe(0);
      await expectWhole(got, other);
    });

    test('and the signal stops the second request too', async () => {
      await breakOff({ etag: '"v1"' });
      const stop = new AbortController();
      host.answer((req, res) => (req.headers.range === undefined ? stop.abort() : res.writeHead(416).end()));
      expect(await failure({ signal: stop.signal })).toMatchObject({ kind: 'cancelled' });
      expect(host.asked).toHaveLength(2);
    });

    test.each<[string, Parameters<typeof serveFile>[1]]>([
      ['a weak ETag', { etag: 'W/"v1"' }],
      ['nothing to recognise it by', {}],
      ['no length', { etag: '"v1"', length: false }],
      ['a time of change that is too fresh', { lastModified: 'Fri, 01 Jan 2100 00:00:00 GMT' }],
    ])('where the host gave %s', async (_, answer) => {
      await breakOff(answer);
      expect(await leftovers()).toEqual([]);
      host.answer(serveFile(body, answer));
      await expectWhole(await download(), body);
      expect(host.asked[0]).not.toHaveProperty('range');
    });

    test('where the caller wants it so', async () => {
      await breakOff({ etag: '"v1"' });
      host.answer(serveFile(body, { etag: '"v1"' }));
      await expectWhole(await download({ resume: false }), body);
      expect(host.asked[0]).not.toHaveProperty('range');
    });
  });

  describe('what is not the whole file is never published', () => {
    const length = (bytes: number): string => `Content-Length: ${bytes}`;
    const html = Buffer.from('<html><body>Sign in</body></html>');

    test.each<[string, DownloadFailureKind, RequestListener, Partial<DownloadOrder>]>([
      ['cut off before its length', 'retryable', raw(length(50_000), small), {}],
      ['cut off within its chunks', 'retryable', raw('Transfer-Encoding: chunked', Buffer.from('ff\r\nabc')), {}],
      ['broken chunks', 'retryable', raw('Transfer-Encoding: chunked', Buffer.from('zz\r\nabc\r\n0\r\n\r\n')), {}],
      ['longer than its length', 'wrong-length', raw(length(1000), small), {}],
      ['longer than its length, much', 'wrong-length', raw(length(6 * MIB), body), {}],
      ['of no visible end', 'bad-answer', raw('Connection: close', small), {}],
      ['empty', 'empty', serveFile(Buffer.alloc(0)), {}],
      ['empty, in no chunks', 'empty', chunked(Buffer.alloc(0)), {}],
      ['shorter than any film', 'not-a-film', serveFile(Buffer.from('abc')), { film: true }],
      ['a film with something behind it', 'not-a-film', chunked(Buffer.concat([film(), html])), { film: true }],
      ['compressed unasked', 'bad-answer', raw(`Content-Encoding: gzip\r\n${length(40_000)}`, small), {}],
      ['announced as too large', 'too-large', serveFile(small), { limits: { maxBytes: 39_999 } }],
      ['announced as too large, and not sent', 'too-large', raw(length(40_000)), { limits: { maxBytes: 39_999 } }],
    ])('%s: %s', async (_, kind, answer, order) => {
      host.answer(answer);
      expect(await failure(order)).toMatchObject({ kind });
      expect(await leftovers()).toEqual([]);
    });

    test('endless: cut off at the limit', async () => {
      let sent = 0;
      host.answer((_, res) => {
        const more = (): void => {
          while (!res.destroyed && (sent += 65_536) && res.write(body.subarray(0, 65_536)));
        };
        res.on('drain', more);
        more();
      });
      expect(await failure({ limits: { maxBytes: 6 * MIB } })).toMatchObject({ kind: 'too-large' });
      expect(sent).toBeLessThan(32 * MIB);
      expect(await leftovers()).toEqual([]);
    });

    test.each<[string, string, Buffer, string]>([
      ['a web page', 'text/html; charset=utf-8', html, 'as text/html is no MP4 film: it begins with "<html><body>Sign'],
      [
        'JSON',
        'application/json',
        Buffer.from('{"error":"no"}'),
        'as application/json is no MP4 film: it begins with "{',
      ],
      ['a film that is cut', 'video/mp4', film().subarray(0, 40_000), 'its mdat box ends 10000 bytes behind the end'],
      ['a film cut before its moov', 'video/mp4', FTYP, 'it has no moov box'],
    ])('%s instead of a film: not published, and told what came', async (_, type, sent, reason) => {
      host.answer((_request, res) => {
        const head = { 'content-type': type, 'content-length': sent.length, etag: '"v1"' };
        res.writeHead(200, head).end(sent);
      });
      const failed = await failure({ film: true });
      expect(failed).toMatchObject({ kind: 'not-a-film', message: expect.stringContaining(reason) });
      expect(await leftovers()).toEqual([]);
      // Another try takes the film that is there by then, from its first byte.
      host.answer(serveFile(small.subarray(0, 20), { etag: '"v1"' }));
      await expectWhole(await download(), small.subarray(0, 20));
    });

    test('a film is one, whole or in fragments, at once or after a break', async () => {
      const whole = film(7 * MIB);
      const fragments = [1, 2, 3].flatMap((n) => [box('moof', randomBytes(90)), box('mdat', randomBytes(n * 9_000))]);
      const fragmented = Buffer.concat([FTYP, MOOV, ...fragments, box('mfra', randomBytes(50))]);
      host.answer(chunked(fragmented));
      await expectWhole(await download({ film: true }), fragmented);
      name = newName();
      await breakOff({ etag: '"v1"' }, whole);
      host.answer(serveFile(whole, { etag: '"v1"' }));
      const got = await download({ film: true });
      // What was fetched by a caller who did not look at it cannot be looked at in S3 any more.
      expect([0, 6 * MIB]).toContain(got.resumedFrom);
      await expectWhole(got, whole);
    });
  });

  describe('a host that does not hurry', () => {
    const quick = { idleMs: 150 };
    const head = { 'content-length': body.length, etag: '"v1"' };

    test.each<[string, RequestListener, string]>([
      ['never answers', () => undefined, 'did not answer'],
      ['stops in the middle', (_, res) => void res.writeHead(200, head).write(small), 'sent nothing'],
    ])('%s', async (_, answer, words) => {
      host.answer(answer);
      const started = Date.now();
      const failed = await failure({ limits: quick });
      expect(failed).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
      expect(Date.now() - started).toBeLessThan(2000);
    });

    test('takes the connection, and says nothing of its handshake', async () => {
      const silent = createServer((socket) => held(async () => void socket.destroy())).listen(0, '127.0.0.1');
      const stop = held(async () => void silent.close());
      await once(silent, 'listening');
      const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/x?${LINK_SECRET}`;
      const message = '127.0.0.1 could not be reached in time.';
      expect(await failure({ url, limits: { connectMs: 150 } })).toMatchObject({ kind: 'retryable', message });
      await stop();
    });

    test('drips', async () => {
      host.answer((_, res) => {
        res.writeHead(200, head);
        const drip = setInterval(() => (res.destroyed ? clearInterval(drip) : res.write('x')), 20);
      });
      const failed = await failure({ limits: patient });
      expect(failed).toMatchObject({ kind: 'retryable', message: expect.stringContaining('slowly') });
    });
  });

  describe('answers without a file', () => {
    test.each<[number, DownloadFailureKind, Record<string, string>, number | undefined]>([
      [401, 'link-refused', {}, undefined],
      [403, 'link-refused', {}, undefined],
      [404, 'link-refused', {}, undefined],
      [410, 'link-refused', {}, undefined],
      [408, 'retryable', {}, undefined],
      [429, 'retryable', { 'retry-after': '7' }, 7000],
      [500, 'retryable', {}, undefined],
      [503, 'retryable', { 'retry-after': '120' }, 120_000],
      [503, 'retryable', { 'retry-after': 'soon' }, undefined],
      [400, 'bad-answer', {}, undefined],
      [204, 'bad-answer', {}, undefined],
      [206, 'bad-answer', {}, undefined],
      [206, 'bad-answer', { 'content-range': 'bytes 0-9/10' }, undefined],
      [416, 'bad-answer', {}, undefined],
      [304, 'bad-answer', {}, undefined],
      [302, 'bad-answer', {}, undefined],
      [300, 'bad-answer', { location: '/next' }, undefined],
    ])('%i: %s', async (status, kind, headers, retryAfterMs) => {
      host.answer((_, res) => res.writeHead(status, headers).end());
      expect(await failure()).toMatchObject({ kind, retryAfterMs });
      expect(host.asked).toHaveLength(1);
    });

    test('101: a change of protocol that nobody asked for', async () => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      host.answer((_, { socket }) => {
        socket?.once('close', () => resolve());
        socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      });
      const started = Date.now();
      const message = expect.stringContaining('answered 101 instead of the file');
      expect(await failure()).toMatchObject({ kind: 'bad-answer', message });
      expect(Date.now() - started).toBeLessThan(2000);
      await closed;
    });

    test('a host that is away', async () => {
      const gone = await startFileHost();
      await gone.stop();
      expect(await failure({ url: gone.link })).toMatchObject({ kind: 'retryable' });
      expect(await failure({ url: 'https://no-such-host.invalid/a?' + LINK_SECRET })).toMatchObject({
        kind: 'retryable',
      });
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
        // Nobody waits for the end of what else such an answer has.
        res.writeHead(status, { location: `/next?${LINK_SECRET}` }).write('x');
      };
    };

    test.each([[[301, 302, 303]], [[307, 308]]])('%j are followed', async (statuses) => {
      host.answer(hops(...statuses));
      await expectWhole(await download(), small);
      expect(host.asked).toHaveLength(statuses.length + 1);
      await eventually(() => expect(ended).toBe(statuses.length));
    });

    test('a fourth is not', async () => {
      host.answer(hops(302, 302, 302, 302));
      expect(await failure()).toMatchObject({ kind: 'bad-answer', message: expect.stringContaining('redirects') });
    });

    test.each(['ftp://127.0.0.1/file', `http://user:${LINK_SECRET}@127.0.0.1/file`, `http://[broken?${LINK_SECRET}`])(
      'to %s is refused',
      async (location) => {
        host.answer((_, res) => res.writeHead(302, { location }).end());
        expect(await failure()).toMatchObject({ kind: 'address-refused', keepsBytes: false });
      },
    );
  });
}

/** A storage that nothing else is done with meanwhile. */
export interface StorageBeside extends StorageUnderTest {
  readonly storageUrl: string;
  /** Bytes of a file under way that a later process would find; rejects where nothing tells of its upload yet. */
  readonly kept: (name: string) => Promise<number>;
}

/** Those that mostly wait: beside all others, each with a host and a file of its own. */
export function waitingDownloadCases(given: () => StorageBeside): void {
  describe('a host that does not hurry', () => {
    test.concurrent('a slow file that keeps the pace is fetched', async () => {
      const [host, name] = [await startFileHost(), newName()];
      host.answer((_, res) => {
        res.writeHead(200, { 'content-length': 24_000 });
        let sent = 0;
        const send = setInterval(() => {
          res.write(small.subarray(sent, (sent += 1000)));
          if (sent === 24_000) clearInterval(send);
        }, 100);
      });
      const got = await downloadInto(given().storage, { url: host.link, name, limits: patient });
      await expectStored(given(), name, got, small.subarray(0, 24_000));
      await host.stop();
    });
  });

  describe('killed in the middle', () => {
    const downloadingChild = (url: string, name: string): ChildProcess => {
      const script = join(import.meta.dirname, '../support/download-child.mjs');
      // Within Jest the environment is a copy: what was set here must be handed on.
      return heldChild(
        spawn(process.execPath, [script, given().storageUrl, url, name], { stdio: 'inherit', env: process.env }),
      );
    };

    async function kill(child: ChildProcess): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }

    test.concurrent('a later process continues, and nothing is left over', async () => {
      const [host, name] = [await startFileHost(), newName()];
      const { promise: sent, resolve: told } = Promise.withResolvers<void>();
      host.answer((_, res) => {
        res.writeHead(200, { 'content-length': body.length, etag: '"v1"' });
        res.write(body.subarray(0, 2 * MIB));
        // Checkpoints are a second apart: what came before and after one must both be found again.
        setTimeout(() => res.write(body.subarray(2 * MIB, 6.5 * MIB), () => setTimeout(told, 1500)), 1300);
      });
      const child = downloadingChild(host.link, name);
      await sent;
      // On a busy machine it may not be that far by then.
      await eventually(async () => expect(await given().kept(name)).toBeGreaterThanOrEqual(2 * MIB), 10_000);
      await kill(child);
      expect(await given().storage.stat(name)).toBeUndefined();
      expect(await leftoversOf(given(), name)).not.toEqual([]);

      host.asked.length = 0;
      host.answer(serveFile(body, { etag: '"v1"' }));
      const got = await downloadInto(given().storage, { url: host.link, name });
      expect(got.resumedFrom).toBeGreaterThanOrEqual(2 * MIB);
      expect(host.asked[0]?.range).toBe(`bytes=${got.resumedFrom}-`);
      await expectStored(given(), name, got, body);
      await host.stop();
    });

    test.concurrent('before anything could be kept: from zero, and nothing is left over', async () => {
      const [host, name] = [await startFileHost(), newName()];
      const { promise: sent, resolve: told } = Promise.withResolvers<void>();
      host.answer((_, res) => {
        res.writeHead(200, { 'content-length': body.length });
        res.write(body.subarray(0, 6 * MIB), () => setTimeout(told, 250));
      });
      const child = downloadingChild(host.link, name);
      await sent;
      // An upload that was begun and not yet told of is left to the sweep.
      await eventually(async () => expect(await given().kept(name)).toBe(0), 10_000);
      await kill(child);
      host.answer(serveFile(small));
      const got = await downloadInto(given().storage, { url: host.link, name });
      await expectStored(given(), name, got, small);
      await host.stop();
    });
  });
}
