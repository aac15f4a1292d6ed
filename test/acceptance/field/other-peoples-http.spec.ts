import { beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { held } from '../../support/held.js';
import { CLIENT, FormBrowser } from '../../support/identity-provider.js';
import { startS3Server } from '../../support/s3-server.js';
import { box, FTYP, MOOV, sampleVideo } from '../../support/sample-video.js';
import { startScriptedIssuer } from '../../support/scripted-issuer.js';
import { type ScriptedReply } from '../../support/scripted-partner.js';
import { accepts, CONTINUOUS, element, inHours, lists, POST, sha256, VIDEOS } from '../../support/scripted-vision.js';
import { idOf, site } from '../../support/site-data.js';
import { Hauler, ONE_SITE, PARTNER_KEY } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { activeSites, answers, siteAnswer } from '../support/site.js';
import { administer, call, listed, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';
import { footageCases } from './support/misbehaving-partner.js';

/** Reports: a CDN sends 24 KB of headers, a sign-on gateway its whole policy. Beyond 64 KB nobody reads on. */
const SIZES = [24_000, 62_000] as const;
const headOf = (bytes: number) => ({ 'X-Policy': 'p'.repeat(bytes) });
const TOO_LARGE = headOf(70_000);

/** A server of raw sockets: it reads a request, and answers as its script says. */
async function socketServer(answer: (socket: Socket, request: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      if (body === undefined) return;
      if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return;
      text = '';
      answer(socket, head);
    });
  }).listen(0, '127.0.0.1');
  held(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const withHead =
  (bytes: number): ((file: Buffer) => readonly RequestListener[]) =>
  (file) => [
    (_, response) => void response.writeHead(200, { 'Content-Length': file.length, ...headOf(bytes) }).end(file),
  ];

footageCases('a head of a partner of up to 64 KB is read (decision 64)', [
  ...SIZES.map((bytes) => ({
    name: `${bytes / 1000} KB before the file`,
    source: 'a CDN with its policy',
    answers: withHead(bytes),
    tries: 1,
  })),
  {
    name: '24 KB before a redirect',
    source: 'a sign-on gateway',
    answers: (file, partner) => [
      (_, response) => void response.writeHead(302, { Location: partner.link(file), ...headOf(24_000) }).end(),
    ],
    tries: 1,
  },
  {
    name: 'more than 64 KB at the first try',
    source: 'a proxy in a loop',
    answers: () => [(_, response) => void response.writeHead(200, TOO_LARGE).end()],
    tries: 2,
  },
]);

describe('a head of a partner of up to 64 KB (decision 64)', () => {
  test.each(SIZES)('of %d bytes is read on GET sites', async (bytes) => {
    const hauler = await Hauler.create();
    await answers(hauler, siteAnswer({ sites: [site('one')] }, headOf(bytes)));
    expect(await hauler.sync()).toMatchObject({ status: 'succeeded', counts: { sites: { created: 1 } } });
  });

  test('of more is named, and changes nothing', async () => {
    const hauler = await Hauler.create();
    await answers(hauler, siteAnswer({ sites: [site('one')] }, TOO_LARGE));
    expect(await hauler.sync()).toMatchObject({ status: 'failed', error: expect.stringContaining('64 KB') });
    expect(await activeSites(hauler)).toBe(0);
  });

  test('is read on both calls of a clip', async () => {
    const vision = await VisionScene.create();
    const file = sampleVideo();
    const large =
      (reply: ScriptedReply): ScriptedReply =>
      (response, request) => {
        response.setHeaders(new Map(Object.entries(headOf(30_000))));
        reply(response, request);
      };
    vision.partner.on(POST, large(accepts({ requestId: 'clip-1' })));
    const clip = element({ requestId: 'clip-1', downloadUrl: vision.partner.link(file) });
    vision.partner.on(VIDEOS, large(lists('videos', () => [clip])));
    await vision.becomes(await vision.order(), { status: 'stored' });
    expect(vision.partner.askedOf(POST)).toHaveLength(1);
  });
});

describe('what a receiver of webhooks has taken is delivered once', () => {
  const forms: readonly (readonly [string, (socket: Socket) => void])[] = [
    [
      'a head of 24 KB',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nX-P: ${'p'.repeat(24_000)}\r\nContent-Length: 0\r\n\r\n`),
    ],
    ['a head of 60 KB', (socket) => socket.end(`HTTP/1.1 204 No Content\r\nX-P: ${'p'.repeat(60_000)}\r\n\r\n`)],
    [
      'a Content-Length beside chunks',
      (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    ],
    ['lines without a carriage return', (socket) => socket.end('HTTP/1.1 200 OK\nContent-Length: 2\n\nok')],
    [
      'a body that ends with its connection',
      (socket) => socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok'),
    ],
    [
      'a connection that is reset behind its status',
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok', () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        ),
    ],
  ];
  test.concurrent.each(forms)('with %s (decision 64)', async (_, answer) => {
    let posts = 0;
    const url = await socketServer((socket) => {
      posts++;
      answer(socket);
    });
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const body = { url: `${url}/hook`, topics: ['ticket.created'], haulerId: hauler.id };
    const { id } = await administer<{ id: string }>('POST', '/webhook-endpoints', body);
    expect((await hauler.push()).status).toBe(200);
    await eventually(async () => {
      const all = await listed<{ status: string; attempts: number }>(
        `/webhook-deliveries?endpointId=${id}&topic=ticket.created`,
      );
      expect(all).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    });
    expect(posts).toBe(1);
  });
});

/** A proxy that adds a head of 24 KB to each answer of `to`. */
async function withLargeHeads(to: string): Promise<string> {
  const server = createServer((incoming, response) => {
    const { method, headers, url } = incoming;
    const outgoing = httpRequest(new URL(url ?? '/', to), { method: method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...headOf(24_000) });
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    outgoing.on('continue', () => response.writeContinue());
    incoming.pipe(outgoing);
  }).listen(0, '127.0.0.1');
  server.on('checkContinue', (...both) => void server.emit('request', ...both));
  held(async () => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a service whose storage and identity provider stand behind a gateway with heads of 24 KB', () => {
  let service: OwnService;
  beforeAll(async () => {
    const s3 = await startS3Server();
    const gateway = await withLargeHeads(s3.endpoint);
    const issuer = await startScriptedIssuer();
    held(issuer.close);
    issuer.play({ headers: headOf(24_000) });
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    service = await startOwnService({
      env: {
        ...s3.credentials,
        STORAGE_URL: s3
          .storageUrl('large-heads')
          .replace(encodeURIComponent(s3.endpoint), encodeURIComponent(gateway))
          .replace(s3.endpoint, gateway),
        PORT: new URL(publicUrl).port,
        PUBLIC_URL: publicUrl,
        OIDC_ISSUER: issuer.issuer,
        OIDC_CLIENT_ID: CLIENT.clientId,
        OIDC_CLIENT_SECRET: CLIENT.clientSecret,
        OIDC_ROLES: 'operator=ops',
      },
    });
  }, 120_000);

  test('stores and reads files (decision 64)', async () => {
    const vision = await VisionScene.create({ service });
    const file = sampleVideo(3_000_000);
    const chunk = element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl: vision.partner.link(file) });
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await vision.follow({ startTime: inHours(-3) });
    const [stored] = await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
    const headers = { Authorization: `Bearer ${service.adminToken}` };
    const response = await fetch(`${service.url}/admin/v1/recordings/${stored?.id ?? ''}/content`, { headers });
    expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(file));
  });

  test('signs people in: description, token and keys are read (decision 64)', async () => {
    const browser = new FormBrowser();
    const end = await browser.walk(
      `${service.url}/console/api/oidc/sign-in`,
      'dana',
      ({ href }) => href.startsWith(`${service.url}/console/?`) || href === `${service.url}/console/`,
    );
    expect(end.searchParams.get('fault')).toBeNull();
    expect((await browser.request(`${service.url}/console/api/session`)).status).toBe(200);
  });
});

test('a caller of ours may still send no head of more than 16 KB (decision 58)', async () => {
  const answer = await call('GET', '/health/live', { headers: headOf(20_000) }, target);
  expect(answer.status).toBe(431);
});

/** Bytes behind a head without any length, and the end of the connection. */
const untilEnd =
  (version: string, bytes: (file: Buffer) => Buffer, end: (socket: Socket) => void = (socket) => socket.end()) =>
  (file: Buffer): RequestListener[] => [
    (_, { socket }) => {
      socket?.write(`HTTP/${version} 200 OK\r\nContent-Type: video/mp4\r\n\r\n`);
      socket?.write(bytes(file), () => end(socket));
    },
  ];
const whole = (file: Buffer): Buffer => file;
const FRAGMENT = Buffer.concat([box('moof', Buffer.alloc(40)), box('mdat', Buffer.alloc(5_000, 7))]);
const fragmented = Buffer.concat([FTYP, MOOV, FRAGMENT, FRAGMENT, FRAGMENT, Buffer.alloc(0)]);
const afterwards = (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 200);

footageCases('a file that ends with its connection (RFC 9112, 6.3) is stored if its boxes are whole (decision 65)', [
  {
    name: 'HTTP/1.1 without a length',
    source: 'a recorder with a server of its own',
    answers: untilEnd('1.1', whole),
    tries: 1,
    isRepeated: true,
  },
  {
    name: 'HTTP/1.0 without a length',
    source: 'an old proxy',
    answers: untilEnd('1.0', whole),
    tries: 1,
    isRepeated: true,
  },
  {
    name: 'fragments without a length',
    source: 'a streaming encoder',
    file: fragmented,
    answers: untilEnd('1.1', whole),
    tries: 1,
    isRepeated: true,
  },
  {
    name: 'a reset behind the last byte',
    source: 'a recorder that closes hard',
    answers: untilEnd('1.1', whole, afterwards),
    isRepeated: true,
  },
  {
    name: 'a reset behind the last byte of an announced length',
    source: 'the same with a length',
    answers: (file) => [
      (_, { socket }) => {
        socket?.write(`HTTP/1.1 200 OK\r\nContent-Length: ${file.length}\r\n\r\n`);
        socket?.write(file, () => afterwards(socket));
      },
    ],
    isRepeated: true,
  },
]);

footageCases('a file that ends with its connection (RFC 9112, 6.3) is never stored if it is cut (decision 65)', [
  ...(['1.1', '1.0'] as const).flatMap((version) => [
    {
      name: `HTTP/${version}, cut in its last box`,
      source: 'a link over radio',
      answers: untilEnd(version, (file) => file.subarray(0, 9_000)),
      tries: 2,
    },
    {
      name: `HTTP/${version}, cut behind moov`,
      source: 'the same',
      answers: untilEnd(version, () => Buffer.concat([FTYP, MOOV])),
      tries: 2,
    },
  ]),
  {
    name: 'cut in the head of a fragment',
    source: 'a streaming encoder',
    file: fragmented,
    answers: untilEnd('1.1', (file) => file.subarray(0, file.length - FRAGMENT.length + 5)),
    tries: 2,
  },
  {
    name: 'cut behind the head of a fragment',
    source: 'the same',
    file: Buffer.concat([fragmented, FRAGMENT]),
    answers: untilEnd('1.1', (file) => file.subarray(0, file.length - 5_008)),
    tries: 2,
  },
  {
    name: 'a box that goes on to the end',
    source: 'a recorder that does not know its end',
    answers: untilEnd('1.1', (file) => {
      const open = Buffer.from(file);
      open.writeUInt32BE(0, FTYP.length + MOOV.length);
      return open.subarray(0, 9_000);
    }),
    tries: 2,
  },
  {
    name: 'cut by a reset',
    source: 'a firewall',
    answers: untilEnd('1.1', (file) => file.subarray(0, 9_000), afterwards),
    tries: 2,
  },
]);

describe('an answer that ends with its connection (RFC 9112, 6.3)', () => {
  const SITES = { success: true, data: { sites: [{ id: idOf('ended'), name: 'Ended' }] } };

  test.each(['1.0', '1.1'])('of HTTP/%s is read on GET sites, and changes nothing if it is cut', async (version) => {
    let body = JSON.stringify(SITES);
    const url = await socketServer((socket) =>
      socket.end(`HTTP/${version} 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`),
    );
    const hauler = await Hauler.create();
    const id = await hauler.connect({ interface: 'site', baseUrl: url, enabled: false, apiKey: PARTNER_KEY });
    expect(await hauler.sync(undefined, id)).toMatchObject({ status: 'succeeded', counts: { sites: { created: 1 } } });
    body = body.slice(0, -3);
    expect(await hauler.sync(undefined, id)).toMatchObject({ status: 'failed' });
    expect(await activeSites(hauler)).toBe(1);
  });

  test.each(['1.0', '1.1'])('of HTTP/%s is read on a list of recordings', async (version) => {
    const file = sampleVideo();
    const vision = await VisionScene.create();
    const chunk = element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl: vision.partner.link(file) });
    const list = JSON.stringify({
      success: true,
      data: { recordings: [chunk], pagination: { page: 1, pageSize: 100, totalItems: 1, totalPages: 1 } },
    });
    vision.partner.on(
      CONTINUOUS,
      ({ socket }) => void socket?.end(`HTTP/${version} 200 OK\r\nContent-Type: application/json\r\n\r\n${list}`),
    );
    await vision.follow({ startTime: inHours(-3) });
    await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
  });
});
