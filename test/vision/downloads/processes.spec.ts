import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Downloader, type ResumePoint } from '../../../src/vision/downloads/downloader.js';
import { contentOf, MIB, newName, sha256 } from '../../shared/storage-cases.js';
import { DownloaderScene } from '../../support/downloader-scene.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { heldChild } from '../../support/held.js';

const childScript = join(import.meta.dirname, '../../support/download-child.mjs');
const body = sampleVideo(7 * MIB);

let scene: DownloaderScene;
beforeAll(async () => void (scene = await DownloaderScene.start()));
afterAll(() => scene.stop());
beforeEach(() => scene.nextFile());

describe('a process that is killed during a download', () => {
  const start = (): ChildProcess =>
    heldChild(spawn(process.execPath, [childScript, `file:${scene.root}`, scene.host.link, scene.name]));

  async function kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  test('resumes from its last checkpoint, and leaves nothing', async () => {
    scene.host.answer((_, res) => {
      res.writeHead(200, { 'content-length': body.length, etag: '"v1"' });
      res.write(body.subarray(0, 2 * MIB));
      // Checkpoints are a second apart.
      setTimeout(() => res.write(body.subarray(2 * MIB, 6 * MIB)), 1_300);
    });
    const child = start();
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
    await kill(child);
    const resume = JSON.parse(line) as ResumePoint;
    expect(resume.bytes).toBeGreaterThanOrEqual(2 * MIB - 65_536);
    expect(await scene.storage.stat(scene.name)).toBeUndefined();
    scene.host.asked.length = 0;
    scene.host.answer(serveFile(body, { etag: '"v1"' }));
    const downloaded = await scene.download({ resume });
    expect(downloaded.resumedFrom).toBe(resume.bytes);
    expect(scene.host.asked[0]?.range).toBe(`bytes=${resume.bytes}-`);
    await scene.expectStored(downloaded, body);
  });

  test('starts from zero before its first checkpoint, and leaves nothing', async () => {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    scene.host.answer((_, res) => {
      res.writeHead(200, { 'content-length': body.length });
      res.write(body.subarray(0, 2 * MIB), () => setTimeout(resolve, 250));
    });
    const child = start();
    await sent;
    await kill(child);
    expect(await scene.drafts()).not.toEqual([]);
    scene.host.answer(serveFile(body));
    await scene.expectStored(await scene.download(), body);
  });
});

describe('over TLS', () => {
  const tls = join(import.meta.dirname, '../../support/tls');
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
    const args = [childScript, `file:${scene.root}`, link, scene.name, ...resume];
    const printed = await promisify(execFile)(process.execPath, args, { env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return { lines: printed.stdout.trim().split('\n'), stderr: printed.stderr };
  }

  test('a file is downloaded, interrupted and resumed', async () => {
    answer = serveFile(body, { etag: '"v1"', breakAfter: 3 * MIB });
    const { lines, stderr } = await download();
    expect(stderr).toContain("kind: 'retryable'");
    const point = JSON.parse(lines.at(-1) ?? '') as ResumePoint;
    expect(point.bytes).toBeGreaterThan(2 * MIB);
    answer = serveFile(body, { etag: '"v1"' });
    const resumed = await download(JSON.stringify(point));
    expect(JSON.parse(resumed.lines.at(-1) ?? '')).toMatchObject({
      size: body.length,
      sha256: sha256(body),
      resumedFrom: point.bytes,
    });
    expect((await contentOf(scene.storage, scene.name)).equals(body)).toBe(true);
  });

  test('a certificate that is not trusted is reported, and can be retried', async () => {
    answer = serveFile(body);
    const downloader = new Downloader(scene.storage, { allowPrivate: true });
    await expect(downloader.download({ url: link, name: newName() })).rejects.toMatchObject({
      kind: 'retryable',
      message: expect.stringMatching(/^localhost failed \([A-Z_]*CERT[A-Z_]*\)\.$/),
    });
  });
});
