import { sampleVideo } from '../../support/sample-video.js';
import { footageCases, sends, status, times } from './support/misbehaving-partner.js';

const xml = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`;
const XML_TYPE = { 'Content-Type': 'application/xml' };
const LOGIN = '<!DOCTYPE html><html><head><title>Sign in</title></head></html>';

/** Refused links. The partner lists the recording again, mostly with the same link. */
footageCases('a refused link is asked for again (decision 47)', [
  {
    name: '400 ExpiredToken',
    source: 'links of S3 and Google storage that are signed with session tokens',
    answers: () => times(2, status(400, XML_TYPE, xml('ExpiredToken'))),
  },
  ...[401, 403, 404, 405, 410, 451].map((code) => ({
    name: `${code}`,
    source: 'a link that has expired, or that a cached list repeats',
    answers: () => times(4, status(code, XML_TYPE, xml('AccessDenied'))),
  })),
  {
    name: '200 with the error of a store',
    source: 'a proxy that answers 200 whatever its store says',
    answers: () => times(2, sends(xml('NoSuchKey'), XML_TYPE)),
  },
  {
    name: 'a redirect to a login page',
    source: 'a portal whose session ended',
    answers: (_, partner) => [
      status(302, { Location: partner.link(Buffer.from(LOGIN), sends(LOGIN, { 'Content-Type': 'text/html' })) }),
    ],
    listed: (tries, partner, file) => (tries > 0 ? { downloadUrl: partner.link(file) } : {}),
  },
  {
    name: 'a redirect to itself',
    source: 'a gateway that sets a cookie',
    answers: () => times(4, (request, response) => void response.writeHead(307, { Location: request.url ?? '' }).end()),
  },
  {
    name: 'a new link in each list, the first two dead',
    source: 'a partner that signs at each listing, behind a cache',
    answers: () => times(2, status(403)),
    listed: (tries, partner, file) => (tries >= 2 ? { downloadUrl: partner.link(file) } : {}),
  },
  {
    name: 'a new id with the new link',
    source: 'a video service that gives ids per listing',
    answers: () => times(1, status(410)),
    listed: (tries, partner, file) => (tries > 0 ? { id: `renamed-${tries}`, downloadUrl: partner.link(file) } : {}),
  },
  {
    name: 'a link that serves another file from the second try on',
    source: 'a host that reuses its names',
    answers: () => [
      (_, response) =>
        void response
          .writeHead(200, { 'Content-Length': 20_000, ETag: '"other"' })
          .write(sampleVideo(20_000).subarray(0, 9_000), () => response.destroy()),
    ],
  },
]);
