import { expect } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { serveFile } from '../../support/file-host.js';
import { FTYP, MOOV, sampleVideo } from '../../support/sample-video.js';
import { element } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { VisionScene } from '../support/vision.js';
import { sends, status, times } from './support/misbehaving-partner.js';

interface Case {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly answers: readonly RequestListener[];
}

/** Clips that are listed as ready before their file is there. The list repeats the same link. */
const CASES: readonly Case[] = [
  { name: '404', source: 'a store that copies between regions for a minute', answers: times(4, status(404)) },
  { name: '403', source: 'a link that is signed for the next minute', answers: times(3, status(403)) },
  { name: '202', source: 'a cold archive', answers: times(2, status(202, { 'Retry-After': '1' })) },
  { name: 'no bytes', source: 'an encoder that lists its output first', answers: times(3, sends('')) },
  { name: 'an index without media', source: 'an encoder of fragments', answers: [sends(Buffer.concat([FTYP, MOOV]))] },
  { name: 'a page', source: 'a release of the video service', answers: times(3, sends('<html></html>')) },
];

testAtOnce(
  'a clip whose file is not there yet is fetched when it is: $name ($source) (decision 47)',
  CASES,
  async ({ answers }) => {
    const vision = await VisionScene.create();
    const file = sampleVideo(20_000);
    let tries = 0;
    const link = vision.partner.link(file, (request, response) =>
      (answers[tries++] ?? serveFile(file, { etag: '"1"' }))(request, response),
    );
    vision.prepares(() => [element({ requestId: 'R1', downloadUrl: link })], { requestId: 'R1', status: 'ready' });
    await vision.becomes(await vision.order(), { status: 'stored' });
    expect(tries).toBe(answers.length + 1);
  },
);
