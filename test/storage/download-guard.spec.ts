import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/storage/download/downloader.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { newName } from '../shared/storage-cases.js';
import { type FileHost, LINK_SECRET, serveFile, startFileHost } from '../support/file-host.js';

let root: string;
let storage: Storage;
let host: FileHost;
beforeAll(async () => {
  host = await startFileHost();
});
afterAll(() => host.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'haulbridge-guard-'));
  storage = await openStorage(`file:${root}`);
  host.asked.length = 0;
});
afterEach(() => rm(root, { recursive: true }));

test.each([
  ['an http address', () => host.link],
  ['a private address', () => host.link.replace('http:', 'https:')],
  ['a name of this machine', () => host.link.replace('http://127.0.0.1', 'https://localhost')],
  ['a user name', () => `https://user@video.example.com/clip.mp4?${LINK_SECRET}`],
  ['no address', () => `//?${LINK_SECRET}`],
])('decision 50: a link with %s is refused before anything is sent', async (_, url) => {
  const downloaded = createDownloader(storage, { allowPrivate: false }).download({ url: url(), name: newName() });
  await expect(downloaded).rejects.toMatchObject({
    kind: 'address-refused',
    keepsBytes: false,
    message: expect.not.stringContaining(LINK_SECRET),
  });
  expect(host.asked).toEqual([]);
  expect(await readdir(root)).toEqual([]);
});

test.each([
  ['a private address', 'https://127.0.0.1/x', 'not a public one'],
  ['plain http', 'http://video.example.com/x', 'https://'],
  ['the address that clouds keep credentials at', 'https://169.254.169.254/latest/meta-data', 'not a public one'],
])('a redirect to %s is refused', async (_, location, words) => {
  // The only host at hand is this machine itself: it is let pass once, and the rule holds from its answer on.
  const policy = { allowPrivate: true };
  host.answer((_req, res) => {
    policy.allowPrivate = false;
    res.writeHead(302, { location }).end();
  });
  const downloaded = createDownloader(storage, policy).download({ url: host.link, name: newName() });
  await expect(downloaded).rejects.toMatchObject({
    kind: 'address-refused',
    message: expect.stringContaining(words),
  });
  expect(host.asked).toHaveLength(1);
});

test('for development both are allowed', async () => {
  host.answer(serveFile(Buffer.from('x')));
  const downloader = createDownloader(storage, { allowPrivate: true });
  await expect(downloader.download({ url: host.link, name: newName() })).resolves.toMatchObject({ size: 1 });
});
