import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/storage/download/downloader.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { contentOf, MIB, newName, sha256 } from '../shared/storage-cases.js';
import { serveFile } from '../support/file-host.js';

const tls = join(import.meta.dirname, '../support/tls');
const body = randomBytes(7 * MIB + 321);
let answer: RequestListener;
let server: Server;
let link: string;
let root: string;
beforeAll(async () => {
  const [key, cert] = await Promise.all(
    ['key.pem', 'certificate.pem'].map((name) => readFile(join(tls, name), 'utf8')),
  );
  server = createServer({ key, cert }, (req, res) => answer(req, res)).listen(0);
  await once(server, 'listening');
  link = `https://localhost:${(server.address() as AddressInfo).port}/clip.mp4?sig=1`;
  root = await mkdtemp(join(tmpdir(), 'haulbridge-https-'));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(root, { recursive: true });
});

/** In a process that trusts the certificate, which can only be said at its start. */
const download = (name: string): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [join(tls, '../download-child.mjs'), `file:${root}`, link, name], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(tls, 'certificate.pem') },
  });

test('over TLS a file is fetched, broken off and continued', async () => {
  const name = newName();
  answer = serveFile(body, { etag: '"v1"', breakAfter: 3 * MIB });
  await expect(download(name)).rejects.toMatchObject({ stderr: expect.stringContaining("kind: 'retryable'") });
  answer = serveFile(body, { etag: '"v1"' });
  const got: unknown = JSON.parse((await download(name)).stdout);
  expect(got).toMatchObject({ size: body.length, sha256: sha256(body), resumedFrom: expect.any(Number) });
  expect((got as { resumedFrom: number }).resumedFrom).toBeGreaterThan(2 * MIB);
  expect((await contentOf(await openStorage(`file:${root}`), name)).equals(body)).toBe(true);
});

test('a certificate that nobody vouches for is told, and worth another try', async () => {
  answer = serveFile(body);
  const downloader = createDownloader(await openStorage(`file:${root}`), { allowPrivate: true });
  await expect(downloader.download({ url: link, name: newName() })).rejects.toMatchObject({
    kind: 'retryable',
    message: expect.stringMatching(/^localhost failed \([A-Z_]*CERT[A-Z_]*\)\.$/),
  });
});
