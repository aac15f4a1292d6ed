import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { DataSource } from 'typeorm';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { GetSitesResponse } from '../../src/contracts/site/site.dto.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import type { PartnerCall } from '../../src/partner-client/partner-client.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import type { PartnerConnection } from '../../src/partner-client/partner-connection.js';
import { BAD_BODIES, PARTNER_FAILURES, PARTNER_LIMITS } from '../shared/partner-failure.battery.js';
import { held } from '../support/held.js';
import { partnerClient, sealedFor, type StoredConnection, storeConnection } from '../support/partner-room.js';
import * as partnerDoes from '../support/scripted-partner.js';
import { type ScriptedPartner, type ScriptedReply, startScriptedPartner } from '../support/scripted-partner.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SITES = 'GET /scale-platform/v1/sites';
const SUBMIT = 'POST /video-platform/v1/videos/requests';
const KEY = 'k3y/of+the=partner';
const EMPTY = { success: true, data: {} };
const getSites: PartnerCall = { api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId: 'x y+&z' } };

Logger.overrideLogger(false);

let database: TestDatabase;
let dataSource: DataSource;
let partner: ScriptedPartner;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
  partner = await startScriptedPartner();
});
afterEach(() => partner.reset());
afterAll(async () => {
  await partner.stop();
  await database.drop();
});

const connect = (options: Partial<Parameters<typeof storeConnection>[1]> = {}): Promise<StoredConnection> =>
  storeConnection(dataSource, { baseUrl: partner.url, key: KEY, ...options });

const failureOf = async (call: Promise<unknown>): Promise<PartnerFailure> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PartnerFailure)) throw error instanceof Error ? error : new Error('the call did not fail');
  return error;
};

const listening = async (): Promise<Server> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  held(async () => server.close());
  // What is never read never hears of its end either.
  server.on('connection', (socket) => held(async () => socket.destroy()));
  return server;
};

/** Everything that an error would show, wherever it goes. */
const shown = (error: Error): string =>
  [error.message, error.stack, JSON.stringify(error), String(error.cause), JSON.stringify(error.cause)].join('\n');

describe('a call', () => {
  test('sends the key in the header of the contract, the query encoded, and asks for JSON', async () => {
    partner.on(SITES, partnerDoes.json(EMPTY));
    const connection = await connect({ baseUrl: `${partner.url}/` });
    const answer = await partnerClient(dataSource).call(connection, getSites);
    expect(answer.read(GetSitesResponse)).toEqual({ success: true, data: {} });
    expect(partner.asked).toHaveLength(1);
    expect(partner.asked[0]?.headers).toMatchObject({
      'api-key': KEY,
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
    expect(partner.asked[0]?.query.get('haulerId')).toBe('x y+&z');
    // Read alike as a form and by RFC 3986.
    expect(partner.asked[0]?.search).toBe('?haulerId=x%20y%2B%26z');
  });

  test('puts the path of the base address before that of the contract', async () => {
    partner.on('GET /tenant/7/scale-platform/v1/sites', partnerDoes.json(EMPTY));
    await partnerClient(dataSource).call(await connect({ baseUrl: `${partner.url}/tenant/7` }), getSites);
    expect(partner.asked).toHaveLength(1);
  });

  test('sends a body as JSON', async () => {
    partner.on(SUBMIT, partnerDoes.json({ success: true }, { status: 202 }));
    const call = { api: VISION_API, route: VISION_API.routes.requestVideo, body: { truckId: 'Ä' }, accept: [202] };
    await partnerClient(dataSource).call(await connect({ interface: 'vision' }), call);
    expect(partner.asked[0]).toMatchObject({ body: '{"truckId":"Ä"}' });
    expect(partner.asked[0]?.headers['content-type']).toBe('application/json');
  });

  test.each<[string, ScriptedReply]>([
    ['gzip', partnerDoes.gzipped(JSON.stringify(EMPTY))],
    ['another content type', partnerDoes.raw(JSON.stringify(EMPTY), { headers: { 'Content-Type': 'text/plain' } })],
    ['no content type', partnerDoes.raw(JSON.stringify(EMPTY))],
    ['a byte order mark', partnerDoes.raw(`\ufeff${JSON.stringify(EMPTY)}`)],
    ['unknown fields', partnerDoes.json({ ...EMPTY, more: 1, data: { extra: [] } })],
  ])('reads an answer with %s', async (_, reply) => {
    partner.on(SITES, reply);
    const answer = await partnerClient(dataSource).call(await connect(), getSites);
    expect(answer.read(GetSitesResponse)).toEqual({ success: true, data: {} });
  });

  test('uses its connection again', async () => {
    partner.on(SITES, partnerDoes.json(EMPTY));
    const client = partnerClient(dataSource);
    const connection = await connect();
    const ports = new Set<number | undefined>();
    partner.on(SITES, (response, request) => {
      ports.add(response.socket?.remotePort);
      partnerDoes.json(EMPTY)(response, request);
    });
    for (let i = 0; i < 3; i++) await client.call(connection, getSites);
    expect(ports.size).toBe(1);
  });
});

describe('a failure', () => {
  test.concurrent.each(PARTNER_FAILURES)('of a partner that $does', async ({ reply, kind, sentence, tries }) => {
    const failing = await startScriptedPartner();
    failing.on(SITES, reply);
    const client = partnerClient(dataSource, { answerMs: PARTNER_LIMITS.PARTNER_ANSWER_TIMEOUT });
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
    partner.on(SITES, reply);
    const answer = await partnerClient(dataSource).call(await connect(), getSites);
    const failure = await failureOf(Promise.resolve().then(() => answer.read(GetSitesResponse)));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(sentence);
  });

  test('names every violation by its path', async () => {
    partner.on(SITES, partnerDoes.json({ success: 'yes', data: { kiosks: [{}] } }));
    const answer = await partnerClient(dataSource).call(await connect(), getSites);
    const failure = await failureOf(Promise.resolve().then(() => answer.read(GetSitesResponse)));
    expect(failure.violations.map(({ path }) => path)).toEqual([
      'success',
      'data.kiosks[0].id',
      'data.kiosks[0].siteId',
      'data.kiosks[0].name',
    ]);
  });

  test('of a partner that refuses connections, or does not exist', async () => {
    const closed = await listening();
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const client = partnerClient(dataSource);
    const refused = await failureOf(client.call(await connect({ baseUrl: `http://127.0.0.1:${port}` }), getSites));
    expect(refused).toMatchObject({ kind: 'unreachable' });
    expect(refused.message).toContain('could not be reached: it refuses connections');
    const unknown = await failureOf(client.call(await connect({ baseUrl: 'http://no-such.invalid' }), getSites));
    expect(unknown.kind).toBe('unreachable');
  });

  test('of a host that never completes a connection comes within the limit on connecting', async () => {
    // A TLS handshake that is never answered: TCP alone is no connection.
    const silent = await listening();
    const { port } = silent.address() as AddressInfo;
    const client = partnerClient(dataSource, { connectMs: 200, answerMs: 20_000 });
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
  ])('of the address %s is known before anything is sent', async (baseUrl, sentence) => {
    const client = partnerClient(dataSource, { allowPrivate: false });
    const failure = await failureOf(client.call(await connect({ baseUrl }), getSites));
    expect(failure.kind).toBe('addressRefused');
    expect(failure.message).toContain(sentence);
  });

  test('of a name that leads to this machine is known after its resolution', async () => {
    const { hostname } = await import('node:os');
    const client = partnerClient(dataSource, { allowPrivate: false });
    const failure = await failureOf(client.call(await connect({ baseUrl: `https://${hostname()}:1` }), getSites));
    expect(failure.kind).toBe('addressRefused');
  });
});

describe('another try', () => {
  test('helps where the partner was away for a moment', async () => {
    partner.on(SITES, partnerDoes.html(503), partnerDoes.breaks('{}', 1), partnerDoes.json(EMPTY));
    await partnerClient(dataSource).call(await connect(), getSites);
    expect(partner.asked).toHaveLength(3);
  });

  test('waits as long as Retry-After says, fractions too', async () => {
    partner.on(SITES, partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '0.3' }), partnerDoes.json(EMPTY));
    await partnerClient(dataSource).call(await connect(), getSites);
    const [first, second] = partner.asked;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(290);
  });

  test('is not made where Retry-After is more than 5 min: the failure says when', async () => {
    partner.on(SITES, partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '301' }));
    const failure = await failureOf(partnerClient(dataSource).call(await connect(), getSites));
    expect(partner.asked).toHaveLength(1);
    expect(Math.round(((failure.retryAt?.getTime() ?? 0) - Date.now()) / 1000)).toBe(301);
  });

  const LOST: [string, ScriptedReply][] = [
    ['is not available', partnerDoes.html(503)],
    ['breaks', partnerDoes.breaks('{}', 1)],
    ['fails', partnerDoes.html(500)],
    ['does not answer', partnerDoes.hangs()],
  ];

  test.each(LOST)('of a POST is never made, where the partner %s', async (_, reply) => {
    const call = { api: VISION_API, route: VISION_API.routes.requestVideo, body: {}, accept: [202] };
    partner.on(SUBMIT, reply, partnerDoes.json(EMPTY, { status: 202 }));
    const connection = await connect({ interface: 'vision' });
    await failureOf(partnerClient(dataSource, { answerMs: 200 }).call(connection, call));
    expect(partner.asked).toHaveLength(1);
  });

  test.each(LOST)('of a GET is not made where the caller wants one, and the partner %s', async (_, reply) => {
    partner.on(SITES, reply, partnerDoes.json(EMPTY));
    const client = partnerClient(dataSource, { answerMs: 200 });
    await failureOf(client.call(await connect(), { ...getSites, once: true }));
    expect(partner.asked).toHaveLength(1);
  });

  test.each<[string, ScriptedReply]>([
    ['in a wait', partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '200' })],
    ['in an answer', partnerDoes.trickles(10)],
    ['before an answer', partnerDoes.hangs()],
  ])('ends with the caller’s signal, %s', async (_, reply) => {
    const abort = new AbortController();
    const reason = new Error('enough');
    partner.on(SITES, (response, request) => {
      reply(response, request);
      setTimeout(() => abort.abort(reason), 150);
    });
    const call = partnerClient(dataSource, { answerMs: 10_000 }).call(await connect(), {
      ...getSites,
      signal: abort.signal,
    });
    await expect(call).rejects.toBe(reason);
    expect(partner.asked).toHaveLength(1);
  });
});

describe('a streamed answer', () => {
  const MEBIBYTE = 1_048_576;
  const client = () => partnerClient(dataSource, { maxBytes: 64 * MEBIBYTE, answerMs: 1_000 });

  test('may be read slowly: our own time does not count as the time of the partner', async () => {
    partner.on(SITES, partnerDoes.raw(Buffer.alloc(16 * MEBIBYTE, 0x20)));
    const read = client().stream(await connect(), getSites, async (answer) => {
      await answer.prefetch(MEBIBYTE);
      await new Promise((done) => setTimeout(done, 1_200));
      for await (const records of answer.records(['data.sites'])) expect(records).toEqual([]);
    });
    // All of it was read, and it is not JSON.
    expect((await failureOf(read)).message).toContain('too large beside its records');
  });

  test('that breaks is read again from the beginning', async () => {
    partner.on(SITES, partnerDoes.breaks(JSON.stringify(EMPTY), 10), partnerDoes.json(EMPTY));
    let attempts = 0;
    await client().stream(await connect(), getSites, async (answer) => {
      attempts++;
      for await (const records of answer.records(['data.sites'])) expect(records).toEqual([]);
    });
    expect(attempts).toBe(2);
  });

  test('is not read again after an error of its reader', async () => {
    partner.on(SITES, partnerDoes.json(EMPTY));
    const read = client().stream(await connect(), getSites, () => Promise.reject(new Error('ours')));
    await expect(read).rejects.toThrow('ours');
    expect(partner.asked).toHaveLength(1);
  });
});

describe('a connection that is changed after it was loaded', () => {
  const change = (set: string, { id }: PartnerConnection) =>
    dataSource.query(`UPDATE connections SET ${set} WHERE id = $1`, [id]);

  test.each([
    ['is deleted', "deleted_at = now(), sealed_key = ''"],
    ['has another address', "base_url = 'https://elsewhere.example'"],
  ])('and %s: nothing is called, nor by another try', async (_, set) => {
    const connection = await connect();
    partner.on(SITES, (response, request) => {
      void change(set, connection).then(() => partnerDoes.html(503)(response, request));
    });
    const client = partnerClient(dataSource);
    expect((await failureOf(client.call(connection, getSites))).kind).toBe('withdrawn');
    expect((await failureOf(client.call(connection, getSites))).message).toContain('was deleted or its address');
    expect(partner.asked).toHaveLength(1);
  });

  test('and has another key: that one is sent', async () => {
    const connection = await connect();
    partner.on(SITES, partnerDoes.json(EMPTY));
    await change(`sealed_key = '${sealedFor(connection.id, 'another-partner-key')}'`, connection);
    await partnerClient(dataSource).call(connection, getSites);
    expect(partner.asked.map(({ headers }) => headers['api-key'])).toEqual(['another-partner-key']);
  });
});

describe('a partner that is down', () => {
  test('is left alone for a while, then tried by one call, and used again when that works', async () => {
    partner.on(SITES, partnerDoes.html(500));
    const client = partnerClient(dataSource, { breakAfter: 3, breakMs: 300 });
    const [connection, other] = [await connect(), await connect()];
    for (let i = 0; i < 3; i++) await failureOf(client.call(connection, getSites));
    const open = await failureOf(client.call(connection, getSites));
    expect(open.kind).toBe('circuitOpen');
    expect(open.retryAt?.getTime()).toBeGreaterThan(Date.now());
    expect(partner.asked).toHaveLength(3);
    // Another connection has a circuit of its own, and an admin's question goes through.
    expect((await failureOf(client.call(other, getSites))).kind).toBe('failed');
    expect((await failureOf(client.call(connection, { ...getSites, breaker: false }))).kind).toBe('failed');
    await new Promise((done) => setTimeout(done, 320));
    partner.on(SITES, partnerDoes.after(100, partnerDoes.json(EMPTY)));
    const trial = client.call(connection, getSites);
    expect((await failureOf(client.call(connection, getSites))).kind).toBe('circuitOpen');
    await trial;
    await client.call(connection, getSites);
  });

  test('is warned of once, with what it failed at, until it has worked again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    try {
      const client = partnerClient(dataSource, { breakAfter: 2, breakMs: 0 });
      const connection = await connect();
      const told = expect.stringMatching(new RegExp(`^${connection.id} .* failed with status 500`));
      for (const outages of [1, 2]) {
        partner.on(SITES, partnerDoes.html(500));
        for (let i = 0; i < 4; i++) expect((await failureOf(client.call(connection, getSites))).kind).toBe('failed');
        expect(warn.mock.calls).toEqual(Array(outages).fill([told]));
        partner.on(SITES, partnerDoes.json(EMPTY));
        await client.call(connection, getSites);
      }
    } finally {
      warn.mockRestore();
    }
  });

  test.each<[string, ScriptedReply]>([
    ['401', partnerDoes.refuses(401, 'UNAUTHORIZED')],
    ['404', partnerDoes.refuses(404, 'NOT_FOUND')],
    ['429', partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '900' })],
  ])('is not one that answers %s', async (_, reply) => {
    partner.on(SITES, reply);
    const client = partnerClient(dataSource, { breakAfter: 2 });
    const connection = await connect();
    for (let i = 0; i < 4; i++)
      expect((await failureOf(client.call(connection, getSites))).kind).not.toBe('circuitOpen');
  });
});

describe('the two key slots', () => {
  /** Accepts one key. */
  const accepts =
    (key: string): ScriptedReply =>
    (response, request) =>
      (request.headers['api-key'] === key ? partnerDoes.json(EMPTY) : partnerDoes.refuses(401, 'UNAUTHORIZED'))(
        response,
        request,
      );
  const slots = async ({ id }: PartnerConnection) => {
    const [row] = await dataSource.query<{ sealed_key: string; sealed_next_key: string | null }[]>(
      'SELECT sealed_key, sealed_next_key FROM connections WHERE id = $1',
      [id],
    );
    return row;
  };

  test('the current key is used while it works', async () => {
    partner.on(SITES, accepts(KEY));
    const connection = await connect({ nextKey: 'next-partner-key' });
    await partnerClient(dataSource).call(connection, getSites);
    expect(partner.asked).toHaveLength(1);
    expect((await slots(connection))?.sealed_next_key).toBe(connection.sealedNextKey);
  });

  test('on 401 the next one is tried, becomes the current one for good, and is then used first', async () => {
    partner.on(SITES, accepts('next-partner-key'));
    const connection = await connect({ nextKey: 'next-partner-key' });
    const client = partnerClient(dataSource);
    await client.call(connection, getSites);
    expect(partner.asked.map(({ headers }) => headers['api-key'])).toEqual([KEY, 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealed_key: connection.sealedNextKey, sealed_next_key: null });
    // Here and on another instance.
    await client.call(connection, getSites);
    await partnerClient(dataSource).call(connection, getSites);
    expect(partner.asked.slice(2).map(({ headers }) => headers['api-key'])).toEqual([
      'next-partner-key',
      'next-partner-key',
    ]);
  });

  test('a next key that another instance promotes meanwhile is used first from then on', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    let others: Promise<unknown> | undefined;
    partner.on(SITES, (response, request) => {
      others ??= dataSource.query(
        'UPDATE connections SET sealed_key = sealed_next_key, sealed_next_key = NULL WHERE id = $1',
        [connection.id],
      );
      void others.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(dataSource);
    for (let i = 0; i < 3; i++) await client.call(connection, getSites);
    const asked = partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([KEY, 'next-partner-key', 'next-partner-key', 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealed_key: connection.sealedNextKey, sealed_next_key: null });
  });

  test('a key that an admin saves before the refusal of the former one arrives stays the current one', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    const saved = { sealed_key: sealedFor(connection.id, 'a third one'), sealed_next_key: connection.sealedNextKey };
    partner.on(SITES, (response, request) => {
      const refused = request.headers['api-key'] === KEY;
      const saving = refused
        ? dataSource.query('UPDATE connections SET sealed_key = $2 WHERE id = $1', [connection.id, saved.sealed_key])
        : Promise.resolve();
      void saving.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(dataSource);
    await client.call(connection, getSites);
    expect(await slots(connection)).toEqual(saved);
    // Nobody has promoted it: what the admin has saved is asked first.
    await client.call(connection, getSites);
    const asked = partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([KEY, 'next-partner-key', 'a third one', 'next-partner-key']);
  });

  test('where neither works, both stay', async () => {
    partner.on(SITES, accepts('a third one'));
    const connection = await connect({ nextKey: 'next-partner-key' });
    const failure = await failureOf(partnerClient(dataSource).call(connection, getSites));
    expect(failure.message).toContain('neither our current nor our next API key');
    expect(await slots(connection)).toEqual({
      sealed_key: connection.sealedKey,
      sealed_next_key: connection.sealedNextKey,
    });
  });

  test('a next key that the partner fails on is not promoted', async () => {
    partner.on(SITES, partnerDoes.refuses(401, 'UNAUTHORIZED'), partnerDoes.html(500));
    const connection = await connect({ nextKey: 'next-partner-key' });
    expect((await failureOf(partnerClient(dataSource).call(connection, getSites))).kind).toBe('failed');
    expect((await slots(connection))?.sealed_next_key).toBe(connection.sealedNextKey);
  });
});

describe('our key', () => {
  const echo = `you sent ${KEY} or ${encodeURIComponent(KEY)} or ${Buffer.from(KEY).toString('base64')}`;

  test.each<[string, ScriptedReply]>([
    ['in an error body', partnerDoes.refuses(400, 'INVALID_PAYLOAD', echo)],
    ['as an error code', partnerDoes.refuses(500, KEY)],
    ['in a redirect', partnerDoes.redirects(`https://x.example/?key=${encodeURIComponent(KEY)}`)],
    ['on a broken connection', partnerDoes.breaks('{}', 1)],
    ['in no answer at all', partnerDoes.hangs()],
    ['in another coding', partnerDoes.raw('{}', { headers: { 'Content-Encoding': KEY } })],
  ])('is not in the error of a partner that echoes it %s', async (_, reply) => {
    partner.on(SITES, reply);
    const failure = await failureOf(partnerClient(dataSource, { answerMs: 200 }).call(await connect(), getSites));
    const text = shown(failure);
    for (const form of [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')]) {
      expect(text).not.toContain(form);
    }
  });

  const LONG_KEY = 'pk_live_5f0c1f2e7a3b4c8d9e0f1a2b3c4d5e6f7a8';
  const LONG_KEY_64 = Buffer.from(LONG_KEY).toString('base64');

  test.each<[string, string, string]>([
    ['the end of a message', 'X', `${'x'.repeat(458)}${LONG_KEY}`],
    ['the end of a message, where the one before it leaves room', 'X', `${'x'.repeat(420)}${LONG_KEY} ${LONG_KEY}`],
    ['the end of a message, in base64', 'X', `${'x'.repeat(480)}${LONG_KEY_64}`],
    [
      'the end of a message, behind a character that is not kept',
      'X',
      `${'x'.repeat(470)}${LONG_KEY.slice(0, 9)}\0${LONG_KEY.slice(9)}`,
    ],
    ['the end of a code', `${'X'.repeat(80)}${LONG_KEY}`, 'no'],
  ])('is not in an error in part either, across %s', async (_, code, message) => {
    partner.on(SITES, partnerDoes.refuses(400, code, message));
    const failure = await failureOf(partnerClient(dataSource).call(await connect({ key: LONG_KEY }), getSites));
    const text = shown(failure);
    for (const form of [LONG_KEY, LONG_KEY_64]) {
      for (let at = 0; at + 8 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 8));
    }
  });

  test('is not in what is read from an answer that echoes it, nor in a breach of it', async () => {
    const escaped = [...KEY].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const body = `{"success":true,"data":{"sites":[{"name":${JSON.stringify(echo)},"${KEY}":"${escaped}"}]}}`;
    partner.on(SITES, partnerDoes.raw(body));
    const connection = await connect();
    const answer = await partnerClient(dataSource).call(connection, getSites);
    expect(JSON.stringify(answer.json())).not.toContain(KEY);
    expect(JSON.stringify(answer.json())).toContain('[redacted]');
    await partnerClient(dataSource).stream(connection, getSites, async (streamed) => {
      for await (const records of streamed.records(['data.sites'])) expect(JSON.stringify(records)).not.toContain(KEY);
    });
    const failure = await failureOf(Promise.resolve().then(() => answer.read(GetSitesResponse)));
    expect(shown(failure)).not.toContain(KEY);
  });

  test('that is a common word does not spoil the data', async () => {
    partner.on(SITES, partnerDoes.json({ success: true, data: { materials: [{ materialType: 'sand' }] } }));
    const answer = await partnerClient(dataSource).call(await connect({ key: 'sand' }), getSites);
    expect(answer.json()).toMatchObject({ data: { materials: [{ materialType: 'sand' }] } });
  });
});
