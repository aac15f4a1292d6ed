import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { DEMO } from '../../../src/demo/demo-data.js';
import { isNearly } from '../../../src/http/json-body.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { exchangeInFull, listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { at, CUSTOMER, TRUCK } from '../../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-11-20T14:00:00Z' });
const pushRaw = (body: string | Buffer, headers: Record<string, string> = {}) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': scene.platformKey, ...headers },
    body,
  });
const requestIdOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? '';

describe('a refused push', () => {
  test.each([
    ['malformed JSON', Buffer.from('{"siteId":'), 400, 'text'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400, 'base64'],
    ['U+0000', Buffer.from('{"a":"\0"}'), 400, 'base64'],
  ])('with %s shows it as it was sent', async (_what, body, status, form) => {
    const reply = await pushRaw(body);
    expect(reply.status).toBe(status);
    const { request } = await exchangeInFull(scene.service, { requestId: requestIdOf(reply) });
    expect(request.body).toMatchObject({ sha256: sha256(body), sizeBytes: body.length });
    expect(request.body).toHaveProperty(form, body.toString(form === 'text' ? 'utf8' : 'base64'));
  });

  test('with a compressed body has the size and the hash of what was sent', async () => {
    const wire = gzipSync(JSON.stringify({ siteId: 1, filler: 'x'.repeat(5_000) }));
    const reply = await pushRaw(wire, { 'Content-Encoding': 'gzip' });
    expect(reply.status).toBe(400);
    const { request } = await exchangeInFull(scene.service, { requestId: requestIdOf(reply) });
    expect(request.body).toMatchObject({ sizeBytes: wire.length, sha256: sha256(wire) });
    expect(request.body?.text).toContain('"siteId":1');
  });

  test('that is too large, of a wrong type, or at a wrong method or path is kept', async () => {
    const key = { 'PLATFORM-API-KEY': scene.platformKey };
    const calls = [
      pushRaw('x'.repeat(1_100_000)),
      pushRaw('{}', { 'Content-Type': 'text/plain' }),
      scene.service.call('GET', '/platform-api/v1/tickets', { headers: key }),
      scene.service.call('POST', '/platform-api/v1/ticket', { headers: key, body: {} }),
    ];
    const statuses = [];
    for (const reply of await Promise.all(calls)) {
      const { status, route } = await newestExchange(scene.service, { requestId: requestIdOf(reply) });
      statuses.push([status, route]);
    }
    expect(statuses).toEqual([
      [413, 'createTicket'],
      [415, 'createTicket'],
      [405, 'createTicket'],
      [404, null],
    ]);
  });

  test('beyond the rate limit is kept', async () => {
    const limited = await startTestApp({ on: scene.service, env: { RATE_LIMIT_PER_MINUTE: 1 } });
    try {
      const push = () =>
        limited.call('POST', '/platform-api/v1/accounts', {
          headers: { 'PLATFORM-API-KEY': scene.platformKey },
          body: { accountName: randomUUID() },
        });
      await push();
      const reply = await push();
      const found = await exchangeInFull(limited, { requestId: requestIdOf(reply) });
      expect([found.status, found.interface, found.request.body]).toEqual([429, 'account', undefined]);
    } finally {
      await limited.close();
    }
  });

  test('whose caller disconnects has no status and a failure', async () => {
    const { port } = new URL(scene.service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const requestId = randomUUID();
    const head = ['POST /platform-api/v1/tickets HTTP/1.1', 'Host: x', `PLATFORM-API-KEY: ${scene.platformKey}`];
    const rest = [`X-Request-Id: ${requestId}`, 'Content-Type: application/json', 'Content-Length: 100', '', '{"a'];
    socket.write([...head, ...rest].join('\r\n'), () => setTimeout(() => socket.resetAndDestroy(), 50));
    await eventually(async () => {
      const { body } = await listExchanges(scene.service, { requestId, status: 'none' });
      expect(body.data).toMatchObject([{ status: null, failure: 'cut-off' }]);
    });
  });
});

describe('other calls', () => {
  describe('whose caller does not get the answer', () => {
    let slow: SandboxScene;
    beforeAll(async () => {
      slow = await startSandboxScene();
      for (const subject of [`haulers/${slow.haulerId}`, `customers/${CUSTOMER}`]) {
        const { status } = await slow.start(subject, 'slow-answer', { forSeconds: 600, parameters: { seconds: 1 } });
        expect(status).toBe(200);
      }
    });
    afterAll(() => slow.service.close());

    /** The exchange of a call whose caller leaves after 300 ms, which is the only one of its request id. */
    const leave = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const requestId = randomUUID();
      const keys = { 'PLATFORM-API-KEY': slow.platformKey, 'API-KEY': slow.partnerKey };
      const all = { 'Content-Type': 'application/json', 'X-Request-Id': requestId, ...keys, ...headers };
      const sent = request(slow.service.url + path, { method: 'POST', headers: all });
      sent.end(JSON.stringify(body));
      setTimeout(() => sent.socket?.resetAndDestroy(), 300);
      await expect(once(sent, 'response')).rejects.toThrow();
      return eventually(async () => {
        const { data } = (await listExchanges(slow.service, { requestId })).body;
        expect(data).toHaveLength(1);
        return exchangeInFull(slow.service, { requestId });
      });
    };
    const left = { status: null, failure: 'cut-off', response: null };
    const ticketWith = (ticketNumber: string, more: object = {}) => ({
      siteId: DEMO.siteId,
      materials: [material],
      inboundFlow: flow(ticketNumber),
      ...more,
    });
    const LOST = { 'Sandbox-Scenario': 'answer-lost' };
    const CASES: Record<string, string>[] = [
      {},
      { 'Idempotency-Key': 'slow' },
      LOST,
      { ...LOST, 'Idempotency-Key': 'lost' },
    ];

    test.each(CASES)('a ticket with %j has its result and id', async (headers) => {
      const number = randomUUID();
      const found = await leave('/platform-api/v1/tickets', ticketWith(number), headers);
      expect(found).toMatchObject({ ...left, result: 'created', route: 'createTicket' });
      expect(found.request.body?.text).toContain(number);
      const { body } = await slow.service.admin<{ data: { id: string }[] }>('GET', `/tickets?ticketNumber=${number}`);
      const [ticket] = body.data;
      expect(found.references).toContainEqual({ kind: 'ticketId', value: ticket?.id });
      const history = await slow.service.admin<{ data: object[] }>('GET', `/tickets/${ticket?.id}/history`);
      expect(history.body.data).toMatchObject([{ exchangeId: found.id, result: 'created', revision: 1 }]);
    });

    test.each(CASES)('an account with %j has its result and id', async (headers) => {
      const accountName = randomUUID();
      const found = await leave('/platform-api/v1/accounts', { accountName }, headers);
      expect(found).toMatchObject({ ...left, result: 'created', route: 'createAccount' });
      const { body } = await slow.service.admin<{ data: { accountId: string }[] }>(
        'GET',
        `/accounts?search=${accountName}`,
      );
      expect(found.references).toContainEqual({ kind: 'accountId', value: body.data[0]?.accountId });
    });

    test('a refused push has its reason, and a repeated one its first answer', async () => {
      const unknown = ticketWith(randomUUID(), { materials: [{ ...material, id: randomUUID() }] });
      const refused = await leave('/platform-api/v1/tickets', unknown);
      expect(refused).toMatchObject({ ...left, errorCode: 'VALIDATION_ERROR', result: '422 materialExists' });
      const [ticket, headers] = [ticketWith(randomUUID()), { 'Idempotency-Key': 'again' }];
      await leave('/platform-api/v1/tickets', ticket, headers);
      const again = await leave('/platform-api/v1/tickets', ticket, headers);
      expect(again).toMatchObject({ ...left, result: 'replayed' });
    });

    test('a video request has its id', async () => {
      const range = { startTime: at(0), endTime: at(1) };
      const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', ...range };
      const found = await leave('/video-platform/v1/videos/requests', body);
      expect(found).toMatchObject({ ...left, route: 'requestVideo' });
      expect(found.references).toContainEqual({ kind: 'partnerRequestId', value: expect.any(String) });
    });
  });

  test('a push that is answered with 503 and committed later has its result and id', async () => {
    const service = await startTestApp({ on: scene.service });
    const call = (accountName: string) =>
      service.call('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': scene.platformKey },
        body: { accountName },
      });
    await scene.service.dataSource.query(`
      CREATE FUNCTION wait_before() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN PERFORM pg_sleep(3); RETURN NEW; END $body$;
      CREATE TRIGGER wait_before BEFORE INSERT ON accounts FOR EACH STATEMENT EXECUTE FUNCTION wait_before()`);
    try {
      // Two batches run, and the third waits for one of them.
      const before = [call('Slow 1')];
      await delay(200);
      before.push(call('Slow 2'));
      await delay(1_000);
      const reply = await call('Slow 3');
      expect(reply.status).toBe(503);
      const found = await eventually(() => exchangeInFull(service, { requestId: requestIdOf(reply) }));
      expect(found).toMatchObject({ status: 503, errorCode: 'INTERNAL_ERROR', result: 'created' });
      expect(found.explanation).toContain('This was decided after the answer had been sent.');
      expect(found.explanation).not.toContain('nothing is known to be stored');
      const { body } = await service.admin<{ data: { accountId: string }[] }>('GET', '/accounts?search=Slow%203');
      expect(found.references).toContainEqual({ kind: 'accountId', value: body.data[0]?.accountId });
      await Promise.all(before);
    } finally {
      await scene.service.dataSource.query('DROP FUNCTION wait_before CASCADE');
      await service.close();
    }
  });

  test.each(['server-error', 'rule-violated', 'unauthorized'])(
    'a push that the sandbox answers with %s is found by its number, and has its body',
    async (name) => {
      await scene.pushTicket({ 'Sandbox-Scenario': name }, { inboundFlow: flow(`IN-${name}`) });
      const found = await exchangeInFull(scene.service, { reference: `ticketNumber:IN-${name}` });
      expect(found.scenario).toBe(name);
      expect(found.request.body?.text).toContain(`IN-${name}`);
    },
  );

  test('a list shows links without their signature, and a download has no bytes', async () => {
    const { body } = await scene.listContinuous();
    const [first] = body.data.recordings;
    await fetch(first?.downloadUrl ?? '').then((response) => response.arrayBuffer());
    const list = await exchangeInFull(scene.service, {
      interface: 'vision',
      reference: `partnerRecordingId:${first?.id}`,
    });
    expect(list.response?.body?.text).toContain('signature=[redacted]');
    expect(list.response?.body?.redacted).toBe(true);
    const [download] = (await listExchanges(scene.service, { interface: 'vision' })).body.data;
    expect(download).toMatchObject({ route: 'download', status: 200 });
    expect(download?.path).toMatch(/signature=\[redacted\]$/);
    expect(download?.responseBytes).toBeGreaterThan(1_000);
  });
});

describe('EXCHANGE_LOG', () => {
  test('failures keeps what failed, and off keeps nothing', async () => {
    const headers = { 'PLATFORM-API-KEY': scene.platformKey };
    for (const [mode, kept] of [
      ['failures', 1],
      ['off', 0],
    ] as const) {
      const service = await startTestApp({ on: scene.service, env: { EXCHANGE_LOG: mode } });
      try {
        const requestId = randomUUID();
        const all = { ...headers, 'X-Request-Id': requestId };
        const accountName = randomUUID();
        for (let i = 0; i < 2; i++) {
          await service.call('POST', '/platform-api/v1/accounts', { headers: all, body: { accountName } });
        }
        expect((await listExchanges(service, { requestId })).body.data).toHaveLength(kept);
      } finally {
        await service.close();
      }
    }
  });
});

const ignored = ({ headers }: { headers: Headers }) => headers.get('ignored-fields');

describe('Ignored-Fields', () => {
  test('names unknown fields at any depth, with the field that was probably meant', async () => {
    const reply = await scene.pushTicket(
      {},
      {
        inBoundFlow: {},
        outboundFlow: { ticketNumber: 'OUT-1', updatedAt: '2026-11-20T14:00:00Z', upDatedAt: 1 },
        materials: [material, { ...material, qty: 1, quantitty: 2 }],
        customFields: { anything: 'goes' },
        'größe x': 1,
      },
    );
    expect(reply.status).toBe(200);
    expect(ignored(reply)?.split(', ')).toEqual([
      'materials[1].qty',
      'materials[1].quantitty (did you mean quantity?)',
      'inBoundFlow (did you mean inboundFlow?)',
      'outboundFlow.upDatedAt (did you mean updatedAt?)',
      '["gr%C3%B6%C3%9Fe%20x"]',
    ]);
    const { ignoredFields } = await newestExchange(scene.service, { reference: 'ticketNumber:OUT-1' });
    expect(ignoredFields).toBe(ignored(reply));
  });

  test('is absent where nothing was ignored', async () => {
    expect(ignored(await scene.pushTicket())).toBeNull();
  });

  test('is on refusals too, and names at most 10 paths', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`unknown${i}`, i]));
    const reply = await scene.pushTicket({}, { siteId: 1, ...many });
    expect([reply.status, ignored(reply)?.split(', ').length]).toEqual([400, 10]);
    expect(ignored(await scene.requestVideo({ truckID: 'x' }))).toBe('truckID (did you mean truckId?)');
  });
});

test.each([
  ['truckID', 'truckId', true],
  ['quantty', 'quantity', true],
  ['quantityy', 'quantity', true],
  ['quantizy', 'quantity', true],
  ['qunatity', 'quantity', true],
  ['qty', 'quantity', false],
  ['quanty', 'quantity', false],
  ['siteId', 'sideIt', false],
])('%s is nearly %s: %s', (name, other, expected) => expect(isNearly(name, other)).toBe(expected));
