import { type Footage, footageCases, sends, status, times } from './support/misbehaving-partner.js';
import { serveFile } from '../../support/file-host.js';

const inThePast = new Date(Date.now() - 3_600_000).toUTCString();
const inThreeDays = String(3 * 86_400);
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The first byte, or the answer, after so many milliseconds. */
const late =
  (ms: number, headFirst = false) =>
  (file: Buffer) => [
    ((request, response) => {
      if (headFirst) response.writeHead(200, { 'Content-Length': file.length }).flushHeaders();
      const send = () => (headFirst ? response.end(file) : serveFile(file)(request, response));
      setTimeout(send, ms);
    }) satisfies ReturnType<Footage['answers']>[number],
  ];

/** Answers that say later. The partner lists the same link again and again. */
footageCases('a file that is to come later is waited for (decision 47)', [
  { name: '202', source: 'a store that fetches the file from the truck', answers: () => times(3, status(202)) },
  {
    name: '202 with a JSON body',
    source: 'the same, with the state of the job',
    answers: () => times(2, status(202, { ...JSON_TYPE, 'Retry-After': '1' }, '{"status":"pending"}')),
  },
  { name: '409', source: 'an archive that is being restored', answers: () => times(2, status(409)) },
  { name: '423', source: 'a recorder that still writes', answers: () => times(2, status(423)) },
  { name: '425', source: 'a gateway that fears replays', answers: () => times(2, status(425)) },
  { name: '408', source: 'a proxy in front of a slow recorder', answers: () => times(2, status(408)) },
  { name: '429 without Retry-After', source: 'a store with a quota', answers: () => times(2, status(429)) },
  {
    name: '503 with a date in the past',
    source: 'a host whose clock is late',
    answers: () => times(2, status(503, { 'Retry-After': inThePast })),
  },
  {
    name: '503 for three days',
    source: 'a planned move of a data centre',
    answers: () => [status(503, { 'Retry-After': inThreeDays })],
  },
  {
    name: '503 with a word as Retry-After',
    source: 'a gateway of one vendor',
    answers: () => times(2, status(503, { 'Retry-After': 'soon' })),
  },
  {
    name: '404 with Retry-After',
    source: 'a cache that fills itself',
    answers: () => times(2, status(404, { 'Retry-After': '1' })),
  },
  {
    name: '302 to nowhere with Retry-After',
    source: 'a gateway that warms up',
    answers: () => [status(302, { 'Retry-After': '1' })],
  },
  {
    name: '500, 502, 504',
    source: 'a release of the video service',
    answers: () => [500, 502, 504].map((code) => status(code)),
  },
  {
    name: 'a connection that is closed without an answer',
    source: 'a restart of the host',
    answers: () => times(2, (_, response) => void response.destroy()),
  },
  { name: '204', source: 'a host that answers an empty file without a body', answers: () => times(2, status(204)) },
  {
    name: '206 that was not asked for',
    source: 'a cache that has a part',
    answers: (file) => [status(206, { 'Content-Range': `bytes 0-9/${file.length}` }, 'x'.repeat(10))],
  },
  {
    name: '200 with a JSON body that says pending',
    source: 'a video service behind a queue',
    answers: () => times(3, sends('{"status":"PROCESSING"}', JSON_TYPE)),
  },
  { name: 'the answer after a second', source: 'a camera that sleeps', answers: late(1_000), tries: 1 },
  {
    name: 'the first byte after a second',
    source: 'the same, behind a proxy that answers at once',
    answers: late(1_000, true),
    tries: 1,
  },
]);
