import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { DownloaderScene } from './downloader-scene.js';

let scene: DownloaderScene;
beforeAll(async () => void (scene = await DownloaderScene.start()));
afterAll(() => scene.stop());
beforeEach(() => scene.nextFile());

const body = sampleVideo(40_000);
const length = `Content-Length: ${body.length}`;
const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);

const raw =
  (head: string, bytes: Buffer): RequestListener =>
  (_, { socket }) => {
    socket?.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK${head}`, 'latin1'), bytes]));
    socket?.end();
  };

/** What curl reads (decision 64). A host that is read leniently is known after its first answer. */
test.each<[string, RequestListener]>([
  ['a Content-Length beside chunks', raw(`\r\n${length}\r\nTransfer-Encoding: chunked\r\n\r\n`, chunk)],
  ['a wrong Content-Length beside chunks', raw('\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n', chunk)],
  ['lines without a carriage return', raw(`\n${length}\n\n`, body)],
  ['the content coding of a store', raw(`\r\n${length}\r\nContent-Encoding: aws-chunked\r\n\r\n`, body)],
  ['a character set as content coding', raw(`\r\n${length}\r\nContent-Encoding: utf-8\r\n\r\n`, body)],
])('a file with %s is stored', async (_, answer) => {
  scene.host.answer(answer);
  const downloaded = await scene.download().catch(() => scene.download());
  await scene.expectStored(downloaded, body);
});

test.each([
  ['raw UTF-8', Buffer.from('/Straße.mp4').toString('latin1'), '/Stra%C3%9Fe.mp4'],
  ['raw Latin-1', '/Straße.mp4', '/Stra%C3%9Fe.mp4'],
])('a redirect to an address in %s is followed', async (_, location, path) => {
  const paths: (string | undefined)[] = [];
  scene.host.answer((req, res) => {
    paths.push(req.url);
    if (req.url !== path) res.writeHead(302, { location }).end();
    else serveFile(body)(req, res);
  });
  await scene.expectStored(await scene.download(), body);
  expect(paths.at(-1)).toBe(path);
});
