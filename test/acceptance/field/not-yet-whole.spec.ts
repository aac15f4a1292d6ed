import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { box, FTYP, MOOV } from '../../support/sample-video.js';
import { footageCases, sends, times } from './support/misbehaving-partner.js';

const PAGE = '<!DOCTYPE html><html><body>We are back soon</body></html>';
const VIDEO = { 'Content-Type': 'video/mp4' };

/** A connection that breaks after so many bytes of the announced ones. */
const cut =
  (file: Buffer, announced: number, sent: number): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'Content-Length': announced, ETag: '"cut"' });
    response.write(file.subarray(0, sent), () => setTimeout(() => response.destroy(), 5));
  };

/** Files that are listed before they are whole, and what hosts send in their place. */
footageCases('a file that is not whole yet is tried again (decision 47)', [
  {
    name: 'no bytes',
    source: 'a recorder that lists the chunk when it opens the file',
    answers: () => times(3, sends('', VIDEO)),
  },
  {
    name: 'no moov yet',
    source: 'a recorder that writes the index last',
    answers: (file) => times(3, sends(Buffer.concat([FTYP, box('mdat', file)]), VIDEO)),
  },
  {
    name: 'a moov that is cut',
    source: 'the same, in the second in which it writes the index',
    answers: (file) => [sends(Buffer.concat([FTYP, box('mdat', file), MOOV.subarray(0, 40)]), VIDEO)],
  },
  {
    name: 'an mdat that is cut',
    source: 'an upload from the truck that has not ended',
    answers: (file) => [sends(file.subarray(0, 9_000), VIDEO)],
  },
  {
    name: 'an index without media',
    source: 'a recorder that streams fragments',
    answers: () => [sends(Buffer.concat([FTYP, MOOV]), VIDEO)],
  },
  {
    name: 'zeros',
    source: 'a recorder that reserves the room of the file',
    answers: () => [sends(Buffer.alloc(20_000), VIDEO)],
  },
  {
    name: 'zeros after the beginning',
    source: 'the same, a minute later',
    answers: (file) => [sends(Buffer.concat([FTYP, Buffer.alloc(file.length - FTYP.length)]), VIDEO)],
  },
  {
    name: 'a file that grows between two tries',
    source: 'an upload that is served while it runs',
    answers: (file) =>
      [4_000, 9_000, 15_000].map((size) => sends(file.subarray(0, size), { ...VIDEO, ETag: `"${size}"` })),
  },
  {
    name: 'a download that breaks off, of a file that grows',
    source: 'the same over a poor link',
    answers: (file) => [cut(file, 9_000, 4_000), cut(file, 15_000, 9_000)],
  },
  {
    name: 'one byte fewer than announced',
    source: 'a proxy that counts line ends',
    answers: (file) => [cut(file, file.length, file.length - 1)],
  },
  {
    name: 'one byte more than announced',
    source: 'a proxy that adds a line end',
    answers: (file) => [sends(file, { ...VIDEO, 'Content-Length': file.length - 1 })],
  },
  {
    name: 'a maintenance page as text/html',
    source: 'a release of the video service, for a minute and all files',
    answers: () => times(4, sends(PAGE, { 'Content-Type': 'text/html' })),
  },
  {
    name: 'a maintenance page as video/mp4',
    source: 'the same behind a cache that keeps the type',
    answers: () => times(4, sends(PAGE, VIDEO)),
  },
  {
    name: 'a compressed page',
    source: 'a gateway that compresses whatever it sends',
    answers: () => times(2, sends(gzipSync(PAGE), { 'Content-Encoding': 'gzip' })),
  },
  {
    name: 'a file without its length that breaks off',
    source: 'a host that streams',
    answers: (file) => [
      (_, response) =>
        void response.writeHead(200).write(file.subarray(0, 5_000), () => setTimeout(() => response.destroy(), 5)),
    ],
  },
]);
