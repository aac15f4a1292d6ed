import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import type { TestApp } from '../../support/app.js';
import { DownloadScene } from '../../support/download-scene.js';
import { serveFile } from '../../support/file-host.js';
import { FTYP, MOOV, sampleVideo } from '../../support/sample-video.js';
import { orderVideo, requestBecomes } from '../../support/video-requests.js';
import { accepts, element, lists, POST, VIDEOS } from '../../support/scripted-vision.js';
import { connectVision } from '../../support/vision-partner.js';
import { sends, status, times } from './support/misbehaving-partner.js';

let scene: DownloadScene;
let app: TestApp;
beforeAll(async () => {
  scene = await DownloadScene.start();
  app = await scene.service();
});
afterAll(() => scene.stop());

interface Case {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly answers: readonly RequestListener[];
}

/** Clips that are listed as ready before their file is there. The list repeats the same link. */
test.each<Case>([
  { name: '404', source: 'a store that copies between regions for a minute', answers: times(4, status(404)) },
  { name: '403', source: 'a link that is signed for the next minute', answers: times(3, status(403)) },
  { name: '202', source: 'a cold archive', answers: times(2, status(202, { 'Retry-After': '1' })) },
  { name: 'no bytes', source: 'an encoder that lists its output first', answers: times(3, sends('')) },
  { name: 'an index without media', source: 'an encoder of fragments', answers: [sends(Buffer.concat([FTYP, MOOV]))] },
  { name: 'a page', source: 'a release of the video service', answers: times(3, sends('<html></html>')) },
])('a clip whose file is not there yet is fetched when it is: $name ($source)', async ({ answers }) => {
  const file = sampleVideo(20_000);
  let tries = 0;
  const link = scene.partner.link(file, (request, response) =>
    (answers[tries++] ?? serveFile(file, { etag: '"1"' }))(request, response),
  );
  scene.partner.on(POST, accepts({ requestId: 'R1', status: 'ready' }));
  scene.partner.on(
    VIDEOS,
    lists('videos', () => [element({ requestId: 'R1', downloadUrl: link })]),
  );
  const { id } = await connectVision(app, scene.partner.url);
  const request = await orderVideo(app, id);
  await requestBecomes(app, request, { status: 'stored' });
  expect(tries).toBe(answers.length + 1);
});
