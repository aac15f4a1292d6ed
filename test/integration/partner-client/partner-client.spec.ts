import { Logger } from '@nestjs/common';
import { describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { VISION_API } from '../../../src/contracts/vision/vision.api.js';
import type { PartnerConnection } from '../../../src/partner-client/connections.repository.js';
import type { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import { BAD_BODIES, PARTNER_FAILURES, PARTNER_LIMITS } from '../../shared/partner-failure.battery.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import {
  EMPTY,
  failureOf,
  getSites,
  PARTNER_KEY,
  partnerClient,
  readSites,
  sealedFor,
  SITES,
  usePartnerCalls,
} from './partner-calls.js';
import * as partnerDoes from '../../support/scripted-partner.js';
import { type ScriptedReply, startScriptedPartner } from '../../support/scripted-partner.js';

const SUBMIT = 'POST /video-platform/v1/videos/requests';
const scene = usePartnerCalls();
const { connect } = scene;

const listening = async (): Promise<Server> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  held(async () => server.close());
  // A socket whose data nobody reads reports no end.
  server.on('connection', (socket) => held(async () => socket.destroy()));
  return server;
};
describe('a call of a partner', () => {
  test('sends the key in the header of the contract, the query encoded, and asks for JSON', async () => {
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    const connection = await connect({ baseUrl: `${scene.partner.url}/` });
    const answer = await partnerClient(scene.dataSource).call(connection, getSites);
    expect(readSites(answer)).toEqual({ success: true, data: {} });
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

  test('prefixes the path of the contract with that of the base address', async () => {
    scene.partner.on('GET /tenant/7/scale-platform/v1/sites', partnerDoes.json(EMPTY));
    await partnerClient(scene.dataSource).call(await connect({ baseUrl: `${scene.partner.url}/tenant/7` }), getSites);
    expect(scene.partner.asked).toHaveLength(1);
  });

  test('sends a body as JSON', async () => {
    scene.partner.on(SUBMIT, partnerDoes.json({ success: true }, { status: 202 }));
    const call = { api: VISION_API, route: VISION_API.routes.requestVideo, body: { truckId: 'Ä' }, accept: [202] };
    await partnerClient(scene.dataSource).call(await connect({ interface: 'vision' }), call);
    expect(scene.partner.asked[0]).toMatchObject({ body: '{"truckId":"Ä"}' });
    expect(scene.partner.asked[0]?.headers['content-type']).toBe('application/json');
  });

  test.each<[string, ScriptedReply]>([
    ['gzip', partnerDoes.gzipped(JSON.stringify(EMPTY))],
    ['another content type', partnerDoes.raw(JSON.stringify(EMPTY), { headers: { 'Content-Type': 'text/plain' } })],
    ['no content type', partnerDoes.raw(JSON.stringify(EMPTY))],
    ['a byte order mark', partnerDoes.raw(`\ufeff${JSON.stringify(EMPTY)}`)],
    ['unknown fields', partnerDoes.json({ ...EMPTY, more: 1, data: { extra: [] } })],
  ])('reads an answer with %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const answer = await partnerClient(scene.dataSource).call(await connect(), getSites);
    expect(readSites(answer)).toEqual({ success: true, data: {} });
  });

  test('reuses its connection', async () => {
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    const client = partnerClient(scene.dataSource);
    const connection = await connect();
    const ports = new Set<number | undefined>();
    scene.partner.on(SITES, (response, request) => {
      ports.add(response.socket?.remotePort);
      partnerDoes.json(EMPTY)(response, request);
    });
    for (let i = 0; i < 3; i++) await client.call(connection, getSites);
    expect(ports.size).toBe(1);
  });
});

describe('a failed call', () => {
  test.concurrent.each(PARTNER_FAILURES)('of a partner that $does', async ({ reply, kind, sentence, tries }) => {
    const failing = await startScriptedPartner();
    failing.on(SITES, reply);
    const client = partnerClient(scene.dataSource, { answerMs: PARTNER_LIMITS.PARTNER_ANSWER_TIMEOUT });
    const failure = await failureOf(client.call(await connect({ baseUrl: failing.url }), getSites));
    expect(failure).toMatchObject({ kind, expected: true });
    expect(failure.message).toContain(sentence);
    expect(failure.message).toContain('127.0.0.1');
    expect(failing.asked).toHaveLength(tries);
    await failing.stop();
  });

  const bodies = [
    ...BAD_BODIES,
    {
      is: 'no data',
      reply: partnerDoes.json({ success: true }),
      kind: 'breach',
      sentence: 'data is required',
    },
    {
      is: 'a wrong type within',
      reply: partnerDoes.json({ success: true, data: { sites: [{ id: 7 }] } }),
      kind: 'breach',
      sentence: 'data.sites[0].id must be a UUID',
    },
  ];

  test.each(bodies)('of an answer that is $is', async ({ reply, kind, sentence }) => {
    scene.partner.on(SITES, reply);
    const answer = await partnerClient(scene.dataSource).call(await connect(), getSites);
    const failure = await failureOf(Promise.resolve().then(() => readSites(answer)));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(sentence);
  });

  test('names every violation by its path', async () => {
    scene.partner.on(SITES, partnerDoes.json({ success: 'yes', data: { kiosks: [{}] } }));
    const answer = await partnerClient(scene.dataSource).call(await connect(), getSites);
    const failure = await failureOf(Promise.resolve().then(() => readSites(answer)));
    expect(failure.violations.map(({ path }) => path)).toEqual([
      'success',
      'data.kiosks[0].id',
      'data.kiosks[0].siteId',
      'data.kiosks[0].name',
    ]);
  });

  test('of a partner that refuses connections or has no address is unreachable', async () => {
    const closed = await listening();
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const client = partnerClient(scene.dataSource);
    const refused = await failureOf(client.call(await connect({ baseUrl: `http://127.0.0.1:${port}` }), getSites));
    expect(refused).toMatchObject({ kind: 'unreachable' });
    expect(refused.message).toContain('could not be reached: it refuses connections');
    const unknown = await failureOf(client.call(await connect({ baseUrl: 'http://no-such.invalid' }), getSites));
    expect(unknown.kind).toBe('unreachable');
  });

  test('of a host that never completes a connection fails within the connect timeout', async () => {
    // The host accepts the TCP connection and never answers the TLS handshake.
    const silent = await listening();
    const { port } = silent.address() as AddressInfo;
    const client = partnerClient(scene.dataSource, { connectMs: 200, answerMs: 20_000 });
    const started = Date.now();
    const call = client.call(await connect({ baseUrl: `https://127.0.0.1:${port}` }), {
      ...getSites,
      once: true,
    });
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(failure.message).toContain('it does not answer');
    expect(Date.now() - started).toBeLessThan(2_000);
    silent.close();
  });

  test.each([
    ['http://203.0.113.9', 'https://'],
    ['https://127.0.0.1:1', 'not a public one'],
    ['https://localhost:1', 'not a public one'],
  ])('to the address %s sends nothing', async (baseUrl, sentence) => {
    const client = partnerClient(scene.dataSource, { allowPrivate: false });
    const failure = await failureOf(client.call(await connect({ baseUrl }), getSites));
    expect(failure.kind).toBe('addressRefused');
    expect(failure.message).toContain(sentence);
  });

  test('to a name that resolves to this machine sends nothing', async () => {
    const { hostname } = await import('node:os');
    const client = partnerClient(scene.dataSource, { allowPrivate: false });
    const failure = await failureOf(client.call(await connect({ baseUrl: `https://${hostname()}:1` }), getSites));
    expect(failure.kind).toBe('addressRefused');
  });
});

describe('a retry', () => {
  test('reads an answer that only a lenient parser reads (decision 64)', async () => {
    const body = JSON.stringify(EMPTY);
    const head = `HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: chunked\n\n`;
    const server = createServer((socket) =>
      socket.once('data', () => socket.end(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await partnerClient(scene.dataSource).call(await connect({ baseUrl }), getSites);
    expect(answer.json()).toEqual(EMPTY);
    server.close();
  });

  test('succeeds after a short outage of the partner', async () => {
    scene.partner.on(SITES, partnerDoes.html(503), partnerDoes.breaks('{}', 1), partnerDoes.json(EMPTY));
    await partnerClient(scene.dataSource).call(await connect(), getSites);
    expect(scene.partner.asked).toHaveLength(3);
  });

  test('waits as long as Retry-After says, fractions of a second included', async () => {
    scene.partner.on(SITES, partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '0.3' }), partnerDoes.json(EMPTY));
    await partnerClient(scene.dataSource).call(await connect(), getSites);
    const [first, second] = scene.partner.asked;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(290);
  });

  test('is not made if Retry-After is more than 5 min: the failure contains the time', async () => {
    scene.partner.on(SITES, partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '301' }));
    const failure = await failureOf(partnerClient(scene.dataSource).call(await connect(), getSites));
    expect(scene.partner.asked).toHaveLength(1);
    expect(Math.round(((failure.retryAt?.getTime() ?? 0) - Date.now()) / 1000)).toBe(301);
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
    await failureOf(partnerClient(scene.dataSource, { answerMs: 200 }).call(connection, call));
    expect(scene.partner.asked).toHaveLength(1);
  });

  test.each(LOST)('of a GET with `once` is not made if the partner %s', async (_, reply) => {
    scene.partner.on(SITES, reply, partnerDoes.json(EMPTY));
    const client = partnerClient(scene.dataSource, { answerMs: 200 });
    await failureOf(client.call(await connect(), { ...getSites, once: true }));
    expect(scene.partner.asked).toHaveLength(1);
  });

  test.each<[string, ScriptedReply]>([
    ['while it waits', partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '200' })],
    ['during a response', partnerDoes.trickles(10)],
    ['before a response', partnerDoes.hangs()],
  ])('ends with the signal of the caller, %s', async (_, reply) => {
    const abort = new AbortController();
    const reason = new Error('aborted');
    scene.partner.on(SITES, (response, request) => {
      reply(response, request);
      setTimeout(() => abort.abort(reason), 150);
    });
    const call = partnerClient(scene.dataSource, { answerMs: 10_000 }).call(await connect(), {
      ...getSites,
      signal: abort.signal,
    });
    await expect(call).rejects.toBe(reason);
    expect(scene.partner.asked).toHaveLength(1);
  });
});

describe('a streamed response', () => {
  const MEBIBYTE = 1_048_576;
  const client = () => partnerClient(scene.dataSource, { maxBytes: 64 * MEBIBYTE, answerMs: 1_000 });

  test('may be read slowly: the time of its reader does not count as the time of the partner', async () => {
    scene.partner.on(SITES, partnerDoes.raw(Buffer.alloc(16 * MEBIBYTE, 0x20)));
    const read = client().stream(await connect(), getSites, async (answer) => {
      await answer.prefetch(MEBIBYTE);
      await new Promise((done) => setTimeout(done, 1_200));
      for await (const records of answer.records(['data.sites'])) expect(records).toEqual([]);
    });
    // The whole response was read. It is not JSON.
    expect((await failureOf(read)).message).toContain('too large beside its records');
  });

  test('that breaks off is read again from its beginning', async () => {
    scene.partner.on(SITES, partnerDoes.breaks(JSON.stringify(EMPTY), 10), partnerDoes.json(EMPTY));
    let attempts = 0;
    await client().stream(await connect(), getSites, async (answer) => {
      attempts++;
      for await (const records of answer.records(['data.sites'])) expect(records).toEqual([]);
    });
    expect(attempts).toBe(2);
  });

  test('is not read again after an error of its reader', async () => {
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    const read = client().stream(await connect(), getSites, () => Promise.reject(new Error('ours')));
    await expect(read).rejects.toThrow('ours');
    expect(scene.partner.asked).toHaveLength(1);
  });
});

describe('a connection that is changed after it was loaded', () => {
  const change = (set: string, { id }: PartnerConnection) =>
    scene.dataSource.query(`UPDATE connections SET ${set} WHERE id = $1`, [id]);

  test.each([
    ['is deleted', "deleted_at = now(), sealed_key = ''"],
    ['has another address', "base_url = 'https://elsewhere.example'"],
  ])('and %s receives no call and no retry', async (_, set) => {
    const connection = await connect();
    scene.partner.on(SITES, (response, request) => {
      void change(set, connection).then(() => partnerDoes.html(503)(response, request));
    });
    const client = partnerClient(scene.dataSource);
    expect((await failureOf(client.call(connection, getSites))).kind).toBe('connectionChanged');
    expect((await failureOf(client.call(connection, getSites))).message).toContain('was deleted or its address');
    expect(scene.partner.asked).toHaveLength(1);
  });

  test('and has another key is called with that key', async () => {
    const connection = await connect();
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    await change(`sealed_key = '${sealedFor(connection.id, 'another-partner-key')}'`, connection);
    await partnerClient(scene.dataSource).call(connection, getSites);
    expect(scene.partner.asked.map(({ headers }) => headers['api-key'])).toEqual(['another-partner-key']);
  });
});

/** Pauses that a test can wait for. */
const pauses = (firstMs: number) => ({ firstMs, factor: 1, maxMs: firstMs, jitter: 0 });

describe('a partner that is down', () => {
  test('is not called for a while, and again after the pause', async () => {
    scene.partner.on(SITES, partnerDoes.html(500));
    const client = partnerClient(scene.dataSource, { pauseAfter: 3, pauses: pauses(2_000) });
    const [connection, other] = [await connect(), await connect()];
    for (let i = 0; i < 3; i++) await failureOf(client.call(connection, getSites));
    const open = await failureOf(client.call(connection, getSites));
    expect(open.kind).toBe('circuitOpen');
    expect(open.retryAt?.getTime()).toBeGreaterThan(Date.now());
    expect(scene.partner.asked).toHaveLength(3);
    // Another connection has its own pauses, and a call of an admin is made during a pause.
    expect((await failureOf(client.call(other, getSites))).kind).toBe('failed');
    expect((await failureOf(client.call(connection, { ...getSites, duringPause: true }))).kind).toBe('failed');
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    await eventually(() => client.call(connection, getSites));
    await client.call(connection, getSites);
  });

  test('is called again at once after a call of an admin succeeded', async () => {
    scene.partner.on(SITES, partnerDoes.html(500));
    const client = partnerClient(scene.dataSource, { pauseAfter: 1, pauses: pauses(60_000) });
    const connection = await connect();
    await failureOf(client.call(connection, getSites));
    expect((await failureOf(client.call(connection, getSites))).kind).toBe('circuitOpen');
    scene.partner.on(SITES, partnerDoes.json(EMPTY));
    await client.call(connection, { ...getSites, duringPause: true });
    await client.call(connection, getSites);
  });

  test('is logged once per outage, with the failure', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    try {
      const client = partnerClient(scene.dataSource, { pauseAfter: 2, pauses: pauses(0) });
      const connection = await connect();
      const logged = expect.stringMatching(new RegExp(`^${connection.id} .* failed with status 500`));
      for (const outages of [1, 2]) {
        scene.partner.on(SITES, partnerDoes.html(500));
        for (let i = 0; i < 4; i++) expect((await failureOf(client.call(connection, getSites))).kind).toBe('failed');
        expect(warn.mock.calls).toEqual(Array(outages).fill([logged]));
        scene.partner.on(SITES, partnerDoes.json(EMPTY));
        await client.call(connection, getSites);
      }
    } finally {
      warn.mockRestore();
    }
  });

  test.each<[string, ScriptedReply]>([
    ['401', partnerDoes.refuses(401, 'UNAUTHORIZED')],
    ['404', partnerDoes.refuses(404, 'NOT_FOUND')],
    ['429', partnerDoes.refuses(429, 'X')],
  ])('is not assumed from a response with status %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const client = partnerClient(scene.dataSource, { pauseAfter: 2 });
    const connection = await connect();
    for (let i = 0; i < 4; i++)
      expect((await failureOf(client.call(connection, getSites))).kind).not.toBe('circuitOpen');
  });

  test.each<[string, ScriptedReply]>([
    ['401', partnerDoes.refuses(401, 'UNAUTHORIZED')],
    ['404', partnerDoes.refuses(404, 'NOT_FOUND')],
    ['429', partnerDoes.refuses(429, 'X')],
    ['a redirect', partnerDoes.redirects('https://elsewhere.example')],
    ['an HTML page', partnerDoes.html()],
    ['a list', partnerDoes.json(EMPTY)],
  ])('is reachable again once it answers: %s between failures ends the count', async (_, reply) => {
    const client = partnerClient(scene.dataSource, { pauseAfter: 3, pauses: pauses(60_000) });
    const connection = await connect();
    for (let round = 0; round < 3; round++) {
      for (const answer of [partnerDoes.html(500), partnerDoes.html(500), reply]) {
        scene.partner.on(SITES, answer);
        const kind = await client.call(connection, getSites).then(
          () => 'ok',
          (error: PartnerFailure) => error.kind,
        );
        expect(kind).not.toBe('circuitOpen');
      }
    }
  });
});

describe('a partner that asks for fewer calls', () => {
  test.each([429, 503])('by %i with Retry-After is not called before that time by any work', async (status) => {
    scene.partner.on(SITES, partnerDoes.refuses(status, 'X', 'slow', { 'Retry-After': '600' }));
    const client = partnerClient(scene.dataSource);
    const [connection, other] = [await connect(), await connect()];
    await failureOf(client.call(connection, getSites));
    const refused = await failureOf(client.call(connection, { ...getSites, once: true }));
    expect(refused).toMatchObject({ kind: 'circuitOpen', message: expect.stringContaining('asked for fewer calls') });
    // At most 5 min: then one call finds out whether the partner still says so.
    expect(Math.round(((refused.retryAt?.getTime() ?? 0) - Date.now()) / 1_000)).toBe(300);
    expect(scene.partner.asked).toHaveLength(1);
    await failureOf(client.call(other, getSites));
    expect(scene.partner.asked).toHaveLength(2);
  });
});
