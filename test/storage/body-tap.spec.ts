import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/storage/download/downloader.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { MIB, newName } from '../shared/storage-cases.js';
import { type FileHost, serveFile, startFileHost } from '../support/file-host.js';

/** The types of Node.js leave it to those of a browser. */
declare const WebAssembly: { Memory: new (size: object) => object };

let made = 0;
const { Memory } = WebAssembly;
WebAssembly.Memory = class extends Memory {
  constructor(size: object) {
    made += 1;
    super(size);
  }
};

let root: string;
let host: FileHost;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'haulbridge-tap-'));
  host = await startFileHost();
});
afterAll(async () => {
  WebAssembly.Memory = Memory;
  await host.stop();
  await rm(root, { recursive: true });
});

const body = randomBytes(3 * MIB);
const ANSWERS: [string, RequestListener, outcome: 'fulfilled' | 'rejected'][] = [
  ['a whole file', serveFile(body), 'fulfilled'],
  ['a file that comes with the head of its answer', serveFile(body.subarray(0, 100)), 'fulfilled'],
  [
    'a file in chunks',
    (_, res) => {
      res.flushHeaders();
      res.end(body);
    },
    'fulfilled',
  ],
  ['a refused link', (_, res) => res.writeHead(403).end(), 'rejected'],
  ['a redirect without end', (_, res) => res.writeHead(302, { location: '/again' }).end(), 'rejected'],
  ['a broken connection', (_, res) => res.destroy(), 'rejected'],
  [
    'a change of protocol',
    (_, { socket }) => socket?.write('HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    'rejected',
  ],
];

test.each(ANSWERS)('the buffers of a connection are used again by the next one: %s', async (_, answer, outcome) => {
  host.answer(answer);
  const storage = await openStorage(`file:${root}`);
  const downloader = createDownloader(storage, { allowPrivate: true });
  const download = async (): Promise<void> => {
    const [ended] = await Promise.allSettled([downloader.download({ url: host.link, name: newName() })]);
    expect(ended.status).toBe(outcome);
    // A buffer is free once its connection is closed, which nobody is told of.
    await new Promise((done) => setTimeout(done, 20));
  };
  await download();
  const before = made;
  for (let again = 0; again < 6; again += 1) await download();
  // One that is lost each time makes six; how many are in use at once differs by a few.
  expect(made - before).toBeLessThan(6);
});

test('a host that is away takes no buffer from the next one', async () => {
  const gone = await startFileHost();
  await gone.stop();
  const downloader = createDownloader(await openStorage(`file:${root}`), { allowPrivate: true });
  const before = made;
  for (let again = 0; again < 3; again += 1) {
    await expect(downloader.download({ url: gone.link, name: newName() })).rejects.toMatchObject({ kind: 'retryable' });
    await new Promise((done) => setTimeout(done, 20));
  }
  expect(made - before).toBeLessThanOrEqual(1);
});
