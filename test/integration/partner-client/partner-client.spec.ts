import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { VISION_API } from '../../../src/contracts/vision/vision.api.js';
import type { FailureKind } from '../../../src/partner-client/partner-failure.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { connectionRow, setConnectionRow } from '../../support/rows.js';
import {
  ask,
  EMPTY,
  failureOf,
  getSites,
  PARTNER_KEY,
  partnerClient,
  sealedFor,
  SITES,
  usePartnerCalls,
} from './partner-calls.js';
import { type ScriptedReply, startScriptedPartner } from '../../support/scripted-partner.js';
import type { PartnerConnection } from '../../../src/partner-client/connections.repository.js';
import * as partnerDoes from '../../support/scripted-partner.js';

const ANSWER_TIMEOUT_MS = 2_000;

interface BadAnswer {
  readonly reply: ScriptedReply;
  readonly kind: FailureKind;
  /** A part of the sentence that an admin reads. */
  readonly sentence: string;
}

interface PartnerFault extends BadAnswer {
  readonly does: string;
  /** Requests of one GET. */
  readonly tries: number;
}

const EMPTY_TEXT = JSON.stringify(EMPTY);
const gzip = { headers: { 'Content-Encoding': 'gzip' } };
const late = 'did not send its whole answer within 2 s';
const large = 'is larger than 1 MB';

const fault = (
  does: string,
  reply: ScriptedReply,
  kind: FailureKind,
  sentence: string,
  { tries = 1 } = {},
): PartnerFault => ({ does, reply, kind, sentence, tries });

/** Each way in which a partner can fail to send a response. */
const PARTNER_FAILURES: readonly PartnerFault[] = [
  fault('hangs', partnerDoes.hangs(), 'timedOut', late),
  fault('trickles for ever', partnerDoes.trickles(20), 'timedOut', late),
  fault('never ends', partnerDoes.endless(), 'tooLarge', large),
  fault('unpacks to too much', partnerDoes.gzipped(Buffer.alloc(8_000_000, 0x20)), 'tooLarge', large),
  fault('breaks at once', partnerDoes.breaks('', 0), 'broken', 'broke before its whole answer', { tries: 3 }),
  fault('breaks in the middle', partnerDoes.breaks(EMPTY_TEXT, 5), 'broken', 'broke before', { tries: 3 }),
  fault('sends half a gzip', partnerDoes.raw(gzipSync(EMPTY_TEXT).subarray(0, 20), gzip), 'broken', 'broke', {
    tries: 3,
  }),
  fault('sends what is no gzip', partnerDoes.raw('{}{}{}{}', gzip), 'notJson', 'not valid JSON'),
  fault(
    'sends an unknown coding',
    partnerDoes.raw('{}', { headers: { 'Content-Encoding': 'compress' } }),
    'breach',
    'unsupported Content-Encoding',
  ),
  fault(
    'sends a coding with the name of something that every object has',
    partnerDoes.raw('{}', { headers: { 'Content-Encoding': 'constructor' } }),
    'breach',
    'unsupported Content-Encoding',
  ),
  fault('redirects', partnerDoes.redirects('http://127.0.0.1:1/'), 'redirected', 'redirect (302)'),
  fault('redirects for good', partnerDoes.redirects('https://x.example/', 308), 'redirected', 'redirect (308)'),
  fault('does not know our key', partnerDoes.refuses(401, 'UNAUTHORIZED'), 'unauthorized', 'not accept our API key'),
  fault(
    'rejects the call',
    partnerDoes.refuses(400, 'INVALID_PAYLOAD', 'this is odd.'),
    'rejected',
    'with status 400 INVALID_PAYLOAD: this is odd.',
  ),
  fault('forbids', partnerDoes.html(403), 'rejected', 'with status 403.'),
  fault('is gone', partnerDoes.refuses(410, 'GONE'), 'rejected', 'with status 410 GONE: no.'),
  fault('fails', partnerDoes.refuses(500, 'INTERNAL_ERROR'), 'failed', 'failed with status 500 INTERNAL_ERROR'),
  fault('is not available', partnerDoes.html(503), 'unavailable', 'not available now (status 503)', { tries: 3 }),
  fault('has a bad gateway', partnerDoes.html(502), 'unavailable', '(status 502)', { tries: 3 }),
  fault('has a slow gateway', partnerDoes.html(504), 'unavailable', '(status 504)', { tries: 3 }),
  fault('wants fewer calls', partnerDoes.html(429), 'rateLimited', 'fewer calls (status 429)', { tries: 3 }),
  fault('has nothing to say', partnerDoes.raw('', { status: 204 }), 'breach', 'status 204'),
];

const SUBMIT = 'POST /video-platform/v1/videos/requests';
const scene = usePartnerCalls();
const { connect } = scene;

/** A server of raw TCP, which is closed at the end with all its connections. */
const listening = async (onSocket?: (socket: Socket) => void): Promise<Server> => {
  const server = createServer(onSocket);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  held(() => new Promise((done) => server.close(done)));
  // A socket whose data nobody reads reports no end.
  server.on('connection', (socket) => held(async () => socket.destroy()));
  return server;
};

describe('a call of a partner', () => {
  test('sends the key in the header of the contract, the query encoded, and asks for JSON', async () => {
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    const connection = await connect({ baseUrl: `${scene.partner.url}/` });
    const answer = await ask(partnerClient(scene.database), connection, getSites);
    expect(answer).toMatchObject(EMPTY);
    expect(scene.partner.asked).toHaveLength(1);
    expect(scene.partner.asked[0]?.headers).toMatchObject({
      'api-key': PARTNER_KEY,
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
    expect(scene.partner.asked[0]?.query.get('haulerId')).toBe('x y+&z');
    // A form and RFC 3986 read it in the same way.
    expect(scene.partner.asked[0]?.search).toBe('?haulerId=x%20y%2B%26z');
  });

  test.each<[string, ScriptedReply]>([
    ['gzip', partnerDoes.gzipped(JSON.stringify(EMPTY))],
    ['another content type', partnerDoes.raw(JSON.stringify(EMPTY), { headers: { 'Content-Type': 'text/plain' } })],
    ['no content type', partnerDoes.raw(JSON.stringify(EMPTY))],
    ['a byte order mark', partnerDoes.raw(`\ufeff${JSON.stringify(EMPTY)}`)],
    ['unknown fields', partnerDoes.json({ ...EMPTY, more: 1, data: { extra: [] } })],
  ])('reads an answer with %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const answer = await ask(partnerClient(scene.database), await connect(), getSites);
    expect(answer).toMatchObject(EMPTY);
  });
});

describe('a failed call', () => {
  test.concurrent.each(PARTNER_FAILURES)('of a partner that $does', async ({ reply, kind, sentence, tries }) => {
    const failing = await startScriptedPartner();
    failing.on(SITES, reply);
    const client = partnerClient(scene.database, { answerMs: ANSWER_TIMEOUT_MS });
    const failure = await failureOf(ask(client, await connect({ baseUrl: failing.url }), getSites));
    expect(failure).toMatchObject({ kind, expected: true });
    expect(failure.message).toContain(sentence);
    expect(failure.message).toContain('127.0.0.1');
    expect(failing.asked).toHaveLength(tries);
    await failing.stop();
  });

  test('of a partner that refuses connections or has no address is unreachable', async () => {
    const closed = await listening();
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const client = partnerClient(scene.database);
    const refused = await failureOf(ask(client, await connect({ baseUrl: `http://127.0.0.1:${port}` }), getSites));
    expect(refused).toMatchObject({ kind: 'unreachable' });
    expect(refused.message).toContain('could not be reached: it refuses connections');
    const unknown = await failureOf(ask(client, await connect({ baseUrl: 'http://no-such.invalid' }), getSites));
    expect(unknown.kind).toBe('unreachable');
  });

  test('of a host that never completes a connection fails within the connect timeout', async () => {
    // The host accepts the TCP connection and never answers the TLS handshake.
    const silent = await listening();
    const { port } = silent.address() as AddressInfo;
    const client = partnerClient(scene.database, { connectMs: 200, answerMs: 60_000 });
    const call = ask(client, await connect({ baseUrl: `https://127.0.0.1:${port}` }), {
      ...getSites,
      once: true,
    });
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(failure.message).toContain('it does not answer');
  });

  test.each([
    ['http://203.0.113.9', 'https://'],
    ['https://127.0.0.1:1', 'not a public one'],
    ['https://localhost:1', 'not a public one'],
  ])('to the address %s sends nothing', async (baseUrl, sentence) => {
    const client = partnerClient(scene.database, { allowPrivate: false });
    const failure = await failureOf(ask(client, await connect({ baseUrl }), getSites));
    expect(failure.kind).toBe('addressRefused');
    expect(failure.message).toContain(sentence);
  });
});

describe('a retry', () => {
  test('reads an answer that only a lenient parser reads (decision 64)', async () => {
    const body = JSON.stringify(EMPTY);
    const head = `HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: chunked\n\n`;
    const server = await listening((socket) =>
      socket.once('data', () => socket.end(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)),
    );
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await ask(partnerClient(scene.database), await connect({ baseUrl }), getSites);
    expect(answer).toEqual(EMPTY);
  });

  const LOST: [string, ScriptedReply][] = [
    ['is not available', partnerDoes.html(503)],
    ['breaks', partnerDoes.breaks('{}', 1)],
    ['fails', partnerDoes.html(500)],
    ['does not answer', partnerDoes.hangs()],
  ];

  test.each(LOST)('of a POST is never made if the partner %s', async (_, reply) => {
    const call = { api: VISION_API, route: VISION_API.routes.requestVideo, body: {}, accept: [202] };
    scene.partner.on(SUBMIT, reply, partnerDoes.json(EMPTY, { status: 202 }));
    const connection = await connect({ interface: 'vision' });
    await failureOf(ask(partnerClient(scene.database, { answerMs: 200 }), connection, call));
    expect(scene.partner.asked).toHaveLength(1);
  });
});

describe('a streamed response', () => {
  const MEBIBYTE = 1_048_576;
  const client = () => partnerClient(scene.database, { maxBytes: 64 * MEBIBYTE, answerMs: 1_000 });

  test('that breaks off is read again from its beginning', async () => {
    scene.partner.on(SITES, partnerDoes.breaks(JSON.stringify(EMPTY), 10), partnerDoes.json(EMPTY));
    let attempts = 0;
    await client().stream(await connect(), getSites, async (answer) => {
      attempts++;
      for await (const records of answer.records(['data.sites'])) expect(records).toEqual([]);
    });
    expect(attempts).toBe(2);
  });
});

describe('a connection that is changed after it was loaded', () => {
  test.each([
    ['is deleted', { isDeleted: true, sealedKey: '' }],
    ['has another address', { baseUrl: 'https://elsewhere.example' }],
  ])('and %s receives no call and no retry', async (_, state) => {
    const connection = await connect();
    scene.partner.on(SITES, (response, request) => {
      void setConnectionRow(scene, connection.id, state).then(() => partnerDoes.html(503)(response, request));
    });
    const client = partnerClient(scene.database);
    expect((await failureOf(ask(client, connection, getSites))).kind).toBe('connectionChanged');
    expect((await failureOf(ask(client, connection, getSites))).message).toContain('was deleted or its address');
    expect(scene.partner.asked).toHaveLength(1);
  });

  test('and has another key is called with that key', async () => {
    const connection = await connect();
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    await setConnectionRow(scene, connection.id, { sealedKey: sealedFor(connection.id, 'another-partner-key') });
    await ask(partnerClient(scene.database), connection, getSites);
    expect(scene.partner.asked.map(({ headers }) => headers['api-key'])).toEqual(['another-partner-key']);
  });
});

/** Pauses that a test can wait for. */
const pauses = (firstMs: number) => ({ firstMs, factor: 1, maxMs: firstMs, jitter: 0 });

describe('a partner that is down', () => {
  test('is not called for a while, and again after the pause', async () => {
    scene.partner.on(SITES, partnerDoes.html(500));
    const client = partnerClient(scene.database, { pauseAfter: 3, pauses: pauses(2_000) });
    const [connection, other] = [await connect(), await connect()];
    for (let i = 0; i < 3; i++) await failureOf(ask(client, connection, getSites));
    const open = await failureOf(ask(client, connection, getSites));
    expect(open.kind).toBe('circuitOpen');
    expect(open.retryAt?.getTime()).toBeGreaterThan(Date.now());
    expect(scene.partner.asked).toHaveLength(3);
    // Another connection has its own pauses, and a call of an admin is made during a pause.
    expect((await failureOf(ask(client, other, getSites))).kind).toBe('failed');
    expect((await failureOf(ask(client, connection, { ...getSites, duringPause: true }))).kind).toBe('failed');
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    await eventually(() => ask(client, connection, getSites));
    await ask(client, connection, getSites);
  });
});

describe('a partner that asks for fewer calls', () => {
  test.each([429, 503])('by %i with Retry-After is not called before that time by any work', async (status) => {
    scene.partner.on(SITES, partnerDoes.refuses(status, 'X', 'slow', { 'Retry-After': '600' }));
    const client = partnerClient(scene.database);
    const [connection, other] = [await connect(), await connect()];
    await failureOf(ask(client, connection, getSites));
    const refused = await failureOf(ask(client, connection, { ...getSites, once: true }));
    expect(refused).toMatchObject({ kind: 'circuitOpen', message: expect.stringContaining('asked for fewer calls') });
    // At most 5 min: then one call finds out whether the partner still says so.
    expect(Math.round(((refused.retryAt?.getTime() ?? 0) - Date.now()) / 1_000)).toBe(300);
    expect(scene.partner.asked).toHaveLength(1);
    await failureOf(ask(client, other, getSites));
    expect(scene.partner.asked).toHaveLength(2);
  });
});

/** All texts that a log or a response could take from an error. */
const shown = (error: Error): string =>
  [error.message, error.stack, JSON.stringify(error), String(error.cause), JSON.stringify(error.cause)].join('\n');

describe('the two key slots', () => {
  /** A partner that accepts this key only. */
  const accepts =
    (key: string): ScriptedReply =>
    (response, request) =>
      (request.headers['api-key'] === key ? partnerDoes.json(EMPTY) : partnerDoes.refuses(401, 'UNAUTHORIZED'))(
        response,
        request,
      );
  const slots = async ({ id }: PartnerConnection) => {
    const { sealedKey, sealedNextKey } = await connectionRow(scene, id);
    return { sealedKey, sealedNextKey };
  };

  test('a next key that another instance promotes at the same time is the current key from then on', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    let others: Promise<unknown> | undefined;
    scene.partner.on(SITES, (response, request) => {
      others ??= setConnectionRow(scene, connection.id, {
        sealedKey: connection.sealedNextKey ?? '',
        sealedNextKey: null,
      });
      void others.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.database);
    for (let i = 0; i < 3; i++) await ask(client, connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'next-partner-key', 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealedKey: connection.sealedNextKey, sealedNextKey: null });
  });

  test('a key that an admin saves during a call stays the current key', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    const saved = { sealedKey: sealedFor(connection.id, 'a third one'), sealedNextKey: connection.sealedNextKey };
    scene.partner.on(SITES, (response, request) => {
      const refused = request.headers['api-key'] === PARTNER_KEY;
      const saving = refused
        ? setConnectionRow(scene, connection.id, { sealedKey: saved.sealedKey })
        : Promise.resolve();
      void saving.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.database);
    await ask(client, connection, getSites);
    expect(await slots(connection)).toEqual(saved);
    // The next key was not promoted: the saved key is sent first.
    await ask(client, connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'a third one', 'next-partner-key']);
  });

  test('a next key is not promoted by the page of a gateway with status 200', async () => {
    scene.partner.on(SITES, (response, request) =>
      (request.headers['api-key'] === PARTNER_KEY ? partnerDoes.refuses(401, 'UNAUTHORIZED') : partnerDoes.html())(
        response,
        request,
      ),
    );
    const connection = await connect({ nextKey: 'next-partner-key' });
    expect((await failureOf(ask(partnerClient(scene.database), connection, getSites))).kind).toBe('notJson');
    expect((await slots(connection)).sealedNextKey).toBe(connection.sealedNextKey);
  });
});

describe('the key of a partner', () => {
  const echo = `you sent ${PARTNER_KEY} or ${encodeURIComponent(PARTNER_KEY)} or ${Buffer.from(PARTNER_KEY).toString('base64')}`;

  test.each<[string, ScriptedReply]>([
    ['in an error body', partnerDoes.refuses(400, 'INVALID_PAYLOAD', echo)],
    ['as an error code', partnerDoes.refuses(500, PARTNER_KEY)],
    ['in a redirect', partnerDoes.redirects(`https://x.example/?key=${encodeURIComponent(PARTNER_KEY)}`)],
    ['on a broken connection', partnerDoes.breaks('{}', 1)],
    ['and does not answer', partnerDoes.hangs()],
    ['in a Content-Encoding', partnerDoes.raw('{}', { headers: { 'Content-Encoding': PARTNER_KEY } })],
  ])('is not in the error if the partner echoes it %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const failure = await failureOf(ask(partnerClient(scene.database, { answerMs: 200 }), await connect(), getSites));
    const text = shown(failure);
    for (const form of [PARTNER_KEY, encodeURIComponent(PARTNER_KEY), Buffer.from(PARTNER_KEY).toString('base64')]) {
      expect(text).not.toContain(form);
    }
  });

  const LONG_KEY = 'pk_live_5f0c1f2e7a3b4c8d9e0f1a2b3c4d5e6f7a8';
  const LONG_KEY_64 = Buffer.from(LONG_KEY).toString('base64');

  test.each<[string, string, string]>([
    ['the end of a message', 'X', `${'x'.repeat(458)}${LONG_KEY}`],
    ['the end of a message, after a whole one', 'X', `${'x'.repeat(420)}${LONG_KEY} ${LONG_KEY}`],
    ['the end of a message, in base64', 'X', `${'x'.repeat(480)}${LONG_KEY_64}`],
    [
      'the end of a message, around a character that is removed',
      'X',
      `${'x'.repeat(470)}${LONG_KEY.slice(0, 9)}\0${LONG_KEY.slice(9)}`,
    ],
    ['the end of a code', `${'X'.repeat(80)}${LONG_KEY}`, 'no'],
  ])('is not in the error in part, across %s', async (_, code, message) => {
    scene.partner.on(SITES, partnerDoes.refuses(400, code, message));
    const failure = await failureOf(ask(partnerClient(scene.database), await connect({ key: LONG_KEY }), getSites));
    const text = shown(failure);
    for (const form of [LONG_KEY, LONG_KEY_64]) {
      for (let at = 0; at + 8 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 8));
    }
  });
});
