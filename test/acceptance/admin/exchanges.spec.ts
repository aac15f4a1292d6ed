import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, refuses } from '../../support/scripted-partner.js';
import { idOf, material, site } from '../../support/site-data.js';
import {
  type ErrorBody,
  flow,
  Hauler,
  ONE_SITE,
  PARTNER_KEY,
  type Plain,
  SITES_ROUTE,
  TICKET,
} from '../support/hauler.js';
import { admin, administer, call, target } from '../support/target.js';

interface Body {
  readonly text?: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly truncated: boolean;
}
interface Exchange extends Plain {
  readonly id: string;
  readonly status: number | null;
  readonly reason?: string;
  readonly references: readonly { readonly kind: string; readonly value: string }[];
  readonly request: { readonly headers: Record<string, string>; readonly body?: Body };
  readonly response: { readonly headers: Record<string, string>; readonly body?: Body } | null;
  readonly explanation: string;
}

type Filter = Readonly<Record<string, string>>;
const query = (filter: Filter) => new URLSearchParams(filter).toString();

/** The exchanges of a filter, the newest first, when there are as many as expected. */
const found = (filter: Filter, count = 1): Promise<Exchange[]> =>
  eventually(async () => {
    const { data } = await administer<{ data: Exchange[] }>('GET', `/exchanges?${query(filter)}`);
    expect(data.length).toBe(count);
    return data;
  });

async function inFull(filter: Filter): Promise<Exchange> {
  const [one] = await found(filter);
  return administer<Exchange>('GET', `/exchanges/${one?.id ?? ''}`);
}

const pushText = async (hauler: Hauler, body: string, headers: Filter = {}) =>
  call<{ disposalTicketId: string } & ErrorBody>('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': await hauler.key(), ...headers },
    body,
  });

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const unknownMaterial = (id: string = randomUUID()) => ({ materials: [{ ...TICKET.materials[0], id }] });

describe('an accepted push', () => {
  test('is found by its number, ticket, site and key, with its request, answer and explanation (operating.md, Exchanges)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const ticketNumber = `IN-${randomUUID()}`;
    const text = JSON.stringify({ ...TICKET, inboundFlow: flow(ticketNumber) });
    const idempotencyKey = randomUUID();
    const reply = await pushText(hauler, text, { 'Idempotency-Key': idempotencyKey });
    const exchange = await inFull({ reference: `ticketNumber:${ticketNumber}` });
    expect(exchange).toMatchObject({
      ...{ direction: 'inbound', interface: 'scale', route: 'createTicket', method: 'POST', status: 200 },
      ...{ path: '/platform-api/v1/tickets', haulerId: hauler.id, connectionId: null, result: 'created' },
      ...{ requestId: reply.headers.get('x-request-id'), requestBytes: text.length },
    });
    expect(exchange.request.body).toEqual({ text, sizeBytes: text.length, sha256: sha256(text), truncated: false });
    expect(exchange.request.headers['platform-api-key']).toBe('[redacted]');
    expect(exchange.response?.headers['ticket-result']).toBe('created');
    expect(exchange.explanation).toContain('A new record was created.');
    const references = [
      `ticketId:${reply.body.disposalTicketId}`,
      `siteId:${TICKET.siteId}`,
      `idempotencyKey:${idempotencyKey}`,
    ];
    for (const reference of references) {
      expect((await found({ haulerId: hauler.id, reference }))[0]?.id).toBe(exchange.id);
    }
    for (const reference of ['ticketNumber:*', 'ticketNumber:%', `ticketNumber:${ticketNumber.slice(0, -1)}`]) {
      await found({ haulerId: hauler.id, reference }, 0);
    }
  });

  test('is shown whole, however long it is; a refused one is cut at EXCHANGE_BODY_LIMIT with the hash of the whole', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const ticketNumber = `IN-${randomUUID()}`;
    const materials = Array.from({ length: 90 }, () => ({ ...TICKET.materials[0], name: 'x'.repeat(200) }));
    const text = JSON.stringify({ ...TICKET, materials, inboundFlow: flow(ticketNumber) });
    expect((await pushText(hauler, text)).status).toBe(200);
    expect((await inFull({ reference: `ticketNumber:${ticketNumber}` })).request.body).toMatchObject({ text });
    const refused = text.replace(`"siteId":"${TICKET.siteId}"`, '"siteId":"no-id"');
    expect((await pushText(hauler, refused)).status).toBe(400);
    const { request } = await inFull({ haulerId: hauler.id, status: '400' });
    expect(request.body).toMatchObject({ truncated: true, sizeBytes: refused.length, sha256: sha256(refused) });
    expect(request.body?.text?.length).toBeLessThanOrEqual(16_384);
  });

  /** The fields of a ticket, to be written in another way than the service would. */
  const FIELDS = JSON.stringify(TICKET).slice(1, -1);
  test.each([
    ['white space', `{\r\n\t${FIELDS.replaceAll(',"', ' ,\n  "').replaceAll('":', '" : ')}\n}\n`],
    ['repeated names', `{"note":"A","note":{"note":1,"note":2},${FIELDS},"note":"B"}`],
    ['escapes', `{"\\u006eote":"\\u0041\\/\\u00e9\\ud83d\\ude00\\u000a\\"",${FIELDS}}`],
    ['non-ASCII', `{"grüße":"Zoë 😀 \u2028 \u200b",${FIELDS}}`],
    ['digits', `{"n":[1.0,1E2,-0,12345678901234567890,0.10],${FIELDS}}`],
    ['an address, and names that are like secret ones', `{"see":"https://a.example/?b=c","keyboard":"a=b",${FIELDS}}`],
    [
      'another order',
      `{${FIELDS.split(/,(?="materials)/)
        .toReversed()
        .join(',')}}`,
    ],
  ])('is shown byte for byte: %s (issue 46; decision 23)', async (_what, text) => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const reply = await pushText(hauler, text);
    expect(reply.status).toBe(200);
    const { request } = await inFull({ reference: `ticketId:${reply.body.disposalTicketId}` });
    const sizeBytes = Buffer.byteLength(text);
    expect(request.body).toEqual({ text, sizeBytes, sha256: sha256(text), truncated: false });
  });

  test('is shown as it was sent but for the values of secret names (decision 59)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const textWith = (secret: string) =>
      `{ "password" :${secret},\n "a": [ { "apiKey":${secret} , "n":1.50 } ], "note":"\\u0041", "note" : "B", ${FIELDS} }`;
    for (const secret of ['"s3cret"', '{"a":["s3cret",{"b":"}"}]}', '12345']) {
      const reply = await pushText(hauler, textWith(secret));
      expect(reply.status).toBe(200);
      const { request } = await inFull({ reference: `ticketId:${reply.body.disposalTicketId}` });
      expect(request.body).toMatchObject({ text: textWith('"[redacted]"'), redacted: true });
    }
  });
});

describe('no secret is shown (decision 59)', () => {
  test('names of one list are redacted before a body is cut, in any case and with - and _', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const names = ['apiKey', 'API_KEY', 'next-api-key', 'token', 'Secret', 'password'];
    const secrets = names.map((name) => [name, `secret-value-of-${name}`] as const);
    const text = JSON.stringify({
      siteId: 'x',
      deep: [{ ...Object.fromEntries(secrets) }],
      filler: 'x'.repeat(20_000),
    });
    expect((await pushText(hauler, text)).status).toBe(400);
    const { request } = await inFull({ haulerId: hauler.id, status: '400' });
    expect(request.body).toMatchObject({ redacted: true, sha256: sha256(text) });
    for (const [, secret] of secrets) expect(request.body?.text).not.toContain(secret);
    expect(request.body?.text?.split('[redacted]').length).toBe(names.length + 1);
  });

  test('a key within an accepted push is read by nobody', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const key = await hauler.key('account');
    const materials = [{ ...TICKET.materials[0], name: key }];
    const customFields = { note: `our key is ${key}`, [key]: 'x' };
    const reply = await hauler.push({ customFields, materials, unknown: { deep: [key, { [key]: 1.5 }] } });
    expect(reply.status).toBe(200);
    const id = reply.body.disposalTicketId;
    const [exchange] = await found({ haulerId: hauler.id, reference: `ticketId:${id}` });
    const ticket = ['', '/revisions', '/history'].map((part) => `/tickets/${id}${part}`);
    for (const path of [...ticket, `/tickets?haulerId=${hauler.id}`, `/exchanges/${exchange?.id ?? ''}`]) {
      const { status, text } = await admin('GET', path);
      expect([path, status, text.includes(key.slice(3))]).toEqual([path, 200, false]);
    }
  });

  test('a key that is sent as X-Request-Id, in a path or in a query is neither answered nor stored', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const key = await hauler.key();
    const reply = await pushText(hauler, JSON.stringify(TICKET), { 'X-Request-Id': key });
    const requestId = reply.headers.get('x-request-id') ?? '';
    expect([reply.status, requestId]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    await pushText(hauler, '{"siteId":"x"}', { 'X-Request-Id': `x${key}`, 'X-Note': encodeURIComponent(`%${key}`) });
    await call('GET', `/platform-api/v1/${key}?note=${key}`, {
      headers: { 'PLATFORM-API-KEY': key, 'X-Request-Id': 'a-name-of-ours' },
    });
    const stored = await found({ haulerId: hauler.id }, 3);
    for (const { id } of stored) expect((await admin('GET', `/exchanges/${id}`)).text).not.toContain(key.slice(3));
    const ticket = await admin('GET', `/tickets/${reply.body.disposalTicketId}/revisions`);
    expect(ticket.text).toContain(requestId);
  });

  test('a partner that echoes our key is stored without it', async () => {
    const hauler = await Hauler.create();
    const { partner, connectionId } = await hauler.siteConnection();
    partner.on(SITES_ROUTE, json({ success: true, data: { sites: [{ ...site('a'), name: PARTNER_KEY }] } }));
    await hauler.sync();
    const exchange = await inFull({ connectionId });
    const sent = Object.entries(exchange.request.headers).map(([name, value]) => [name.toLowerCase(), value]);
    expect(sent).toContainEqual(['api-key', '[redacted]']);
    expect(JSON.stringify(exchange)).not.toContain(PARTNER_KEY);
  });
});

describe('a push explains itself in one call (decisions 21, 24, 66)', () => {
  const says: Readonly<Record<string, string[]>> = {
    created: ['received 200', 'A new record was created. It is stored'],
    updated: ['this push updated it. Its contents are those of this push'],
    unchanged: ['already had exactly this content', 'nothing is left to do'],
    stale: ['changed no contents', 'send it again with a newer updatedAt'],
    malformed: ['received 400', 'Nothing was stored.', 'siteId must be a UUID', 'Correct the request'],
    'of an unknown site': ['received 422', 'Nothing was stored.', 'siteId must be the id, in your own system'],
    'of an unknown material': ['received 422', 'materials[0].id must be the id, in your own system'],
    'with a used Idempotency-Key': ['received 422', 'a new request needs a new key'],
    repeated: ['this is the first response again, and nothing was done twice'],
    lost: ['received no response', 'A new record was created. It is stored', 'nothing is stored twice'],
  };
  const explanations = new Map<string, string>();
  beforeAll(async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const key = { 'Idempotency-Key': randomUUID() };
    const pushes: readonly [name: string, ticket: Plain, headers?: Filter][] = [
      ['created', { inboundFlow: flow('E-1', 1) }],
      ['updated', { inboundFlow: flow('E-1', 2), customFields: { a: 'b' } }],
      ['unchanged', { inboundFlow: flow('E-1', 2), customFields: { a: 'b' } }],
      ['stale', { inboundFlow: flow('E-1', 0), customFields: { a: 'c' } }],
      ['malformed', { siteId: 'x' }],
      ['of an unknown site', { siteId: randomUUID() }],
      ['of an unknown material', unknownMaterial()],
      ['with its key', { inboundFlow: flow('E-2') }, key],
      ['repeated', { inboundFlow: flow('E-2') }, key],
      ['with a used Idempotency-Key', { inboundFlow: flow('E-3') }, key],
      ['lost', { inboundFlow: flow('E-4') }, { 'Sandbox-Scenario': 'answer-lost' }],
    ];
    for (const [name, ticket, headers] of pushes) {
      const requestId = randomUUID();
      const text = JSON.stringify({ ...TICKET, ...ticket });
      await pushText(hauler, text, { ...headers, 'X-Request-Id': requestId }).catch(() => undefined);
      explanations.set(name, (await inFull({ requestId })).explanation);
    }
  });

  test.each(Object.entries(says))('one that is %s', (name, words) => {
    const explanation = explanations.get(name) ?? '';
    for (const each of words) expect(explanation).toContain(each);
    expect(explanation).not.toMatch(/undefined|null/);
  });
});

describe('the list', () => {
  let hauler: Hauler;
  const material = randomUUID();
  beforeAll(async () => {
    hauler = await Hauler.create({ sites: ONE_SITE });
    for (let n = 0; n < 3; n++) await hauler.push({ ...unknownMaterial(material), inboundFlow: flow(`L-${n}`) });
    await hauler.push({ siteId: 'x' });
    await hauler.push();
    const { partner } = await hauler.siteConnection();
    partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
    await hauler.sync();
    await found({ haulerId: hauler.id, direction: 'inbound' }, 5);
  });

  test.each<[Filter, number]>([
    [{ direction: 'inbound' }, 5],
    [{ direction: 'outbound', status: '4xx' }, 1],
    [{ interface: 'scale', status: '422' }, 3],
    [{ status: '200', direction: 'inbound' }, 1],
    [{ errorCode: 'INVALID_PAYLOAD' }, 1],
    [{ reason: 'materialExists' }, 3],
    [{ direction: 'inbound', failed: 'false' }, 1],
    [{ reference: 'ticketNumber:L-1' }, 1],
    [{ from: '2999-01-01T00:00:00Z' }, 0],
    [{ status: 'none' }, 0],
  ])('has for %j the exchanges of the filter: %i', async (filter, count) => {
    await found({ haulerId: hauler.id, ...filter }, count);
  });

  test.each([
    [{ colour: 'red' }, 'colour'],
    [{ status: 'nice' }, 'status'],
    [{ reference: 'colour:red' }, 'reference'],
    [{ from: 'today' }, 'from'],
    [{ pageSize: '101' }, 'pageSize'],
  ])('refuses %j with the field', async (filter, path) => {
    const reply = await admin<ErrorBody>('GET', `/exchanges?${query(filter)}`);
    expect([reply.status, reply.body.error.details?.violations?.map((each) => each.path)]).toEqual([400, [path]]);
  });

  interface Reasons {
    readonly data: readonly { reason: string; count: number; sentence: string; lastExchangeId: string }[];
  }
  const reasons = (filter: Filter) => administer<Reasons>('GET', `/exchanges/reasons?${query(filter)}`);

  test('is counted by reason, and each reason names its exchanges', async () => {
    const { data } = await reasons({ haulerId: hauler.id, direction: 'inbound' });
    expect(data.map(({ reason, count }) => [reason, count])).toEqual([
      ['materialExists', 3],
      ['isUuid', 1],
    ]);
    expect(data[0]?.sentence).toBe('The platform has no material with this id for your hauler.');
    const [newest] = await found({ haulerId: hauler.id, reason: 'materialExists' }, 3);
    expect(data[0]?.lastExchangeId).toBe(newest?.id);
  });

  test.each<[Filter, [string, number][]]>([
    [{ direction: 'outbound' }, [['http-401', 1]]],
    [{ status: '422' }, [['materialExists', 3]]],
    [{ status: '4xx', interface: 'scale', errorCode: 'INVALID_PAYLOAD' }, [['isUuid', 1]]],
    [{ reason: 'materialExists', from: '2020-01-01T00:00:00Z' }, [['materialExists', 3]]],
    [{ to: '2020-01-01T00:00:00Z' }, []],
    [{ connectionId: randomUUID() }, []],
  ])('counts for %j the reasons of the filter', async (filter, expected) => {
    const { data } = await reasons({ haulerId: hauler.id, ...filter });
    expect(data.map(({ reason, count }) => [reason, count])).toEqual(expected);
  });

  test('counts as many as the list has of each reason', async () => {
    const failed = await found({ haulerId: hauler.id, failed: 'true' }, 5);
    const { data } = await reasons({ haulerId: hauler.id });
    for (const { reason, count } of data)
      expect(failed.filter((each) => each['reason'] === reason)).toHaveLength(count);
    expect(data.reduce((sum, { count }) => sum + count, 0)).toBe(5);
  });

  test('counts no reasons by what one exchange names, and says so', async () => {
    const reply = await admin<ErrorBody>('GET', '/exchanges/reasons?reference=ticketNumber:L-1');
    expect([reply.status, reply.body.error.details?.violations?.map((each) => each.path)]).toEqual([
      400,
      ['reference'],
    ]);
  });

  test('a cursor of another filter is refused', async () => {
    const filter = { haulerId: hauler.id, pageSize: '1' };
    const { next } = await administer<{ next: string }>('GET', `/exchanges?${query(filter)}`);
    expect((await admin('GET', `/exchanges?${query({ ...filter, cursor: next })}`)).status).toBe(200);
    expect((await admin('GET', `/exchanges?${query({ ...filter, cursor: next, status: '200' })}`)).status).toBe(400);
  });
});

describe('a trace (W3C Trace Context)', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const PARENT = '00f067aa0ba902b7';
  const traced = (traceparent: string) => ({ traceparent, tracestate: 'rojo=1, congo=2' });

  test('of a push is that of its traceparent; with an invalid one the push has a trace of its own', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    await hauler.push({ inboundFlow: flow('T-1') }, { headers: traced(`00-${TRACE}-${PARENT}-01`) });
    await hauler.push({ inboundFlow: flow('T-2') }, { headers: traced(`00-${'0'.repeat(32)}-${PARENT}-01`) });
    const [own, other] = await Promise.all(
      ['T-1', 'T-2'].map((number) => inFull({ haulerId: hauler.id, reference: `ticketNumber:${number}` })),
    );
    expect(own).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(other).toMatchObject({ traceId: other!.id.replaceAll('-', '') });
    expect(other).not.toHaveProperty('parentSpanId');
  });

  test('goes on in the calls to the partner that a request causes, each with an id of its own', async () => {
    const hauler = await Hauler.create();
    const { partner, connectionId } = await hauler.siteConnection();
    partner.on(SITES_ROUTE, json({ success: true, data: {} }));
    const headers = { Authorization: `Bearer ${target.adminToken}`, ...traced(`00-${TRACE}-${PARENT}-01`) };
    expect((await call('POST', `/admin/v1/connections/${connectionId}/check`, { headers })).status).toBe(200);
    const sent = partner.asked.map(({ headers: { traceparent = '' } }) => String(traceparent).split('-'));
    expect(sent.map(([, traceId]) => traceId)).toEqual(sent.map(() => TRACE));
    expect(new Set([PARENT, ...sent.map(([, , id]) => id)]).size).toBe(sent.length + 1);
    expect(partner.asked[0]?.headers['tracestate']).toBe('rojo=1, congo=2');
    await hauler.sync();
    expect(partner.asked.at(-1)?.headers['traceparent']).toMatch(/^00-(?!0+-)[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(partner.asked.at(-1)?.headers['tracestate']).toBeUndefined();
  });
});

describe('a replay', () => {
  interface Replayed {
    readonly exchangeId: string;
    readonly status: number;
  }

  test('sends a refused push again as it was, under a new request id, and shows both answers', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const headers = { 'Idempotency-Key': randomUUID() };
    await hauler.push({ ...unknownMaterial(idOf('later')), inboundFlow: flow('R-1') }, { headers });
    const first = await inFull({ haulerId: hauler.id, status: '422' });
    const materials = [...ONE_SITE.materials!, material('later', { siteId: idOf('yard') })];
    await hauler.sync({ ...ONE_SITE, materials });
    const reply = await admin<Replayed>('POST', `/exchanges/${first.id}/replay`, {});
    expect([reply.status, reply.body.status]).toEqual([201, 200]);
    const again = await inFull({ haulerId: hauler.id, reference: 'ticketNumber:R-1', status: '200' });
    expect(again).toMatchObject({ id: reply.body.exchangeId, replayOf: first.id, result: 'created' });
    expect(again.request.body).toEqual(first.request.body);
    expect(again['requestId']).not.toBe(first['requestId']);
  });

  test('of an accepted push makes no second ticket, also for another hauler only one', async () => {
    const [hauler, other] = [await Hauler.create({ sites: ONE_SITE }), await Hauler.create({ sites: ONE_SITE })];
    await hauler.push({}, { headers: { 'Idempotency-Key': 'once' } });
    const [first] = await found({ haulerId: hauler.id, reference: 'idempotencyKey:once' });
    const path = `/exchanges/${first?.id ?? ''}/replay`;
    expect((await admin('POST', path)).status).toBe(201);
    expect((await admin('POST', path, { haulerId: other.id })).status).toBe(201);
    const count = async ({ id }: Hauler) =>
      (await administer<{ data: unknown[] }>('GET', `/tickets?haulerId=${id}`)).data.length;
    expect([await count(hauler), await count(other)]).toEqual([1, 1]);
    for (const haulerId of [randomUUID(), 'x']) expect((await admin('POST', path, { haulerId })).status).toBe(400);
  });

  test('by filter counts in a dry run, then sends each once; a filter that names nothing is refused', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    for (const number of ['M-1', 'M-2']) await hauler.push({ ...unknownMaterial(), inboundFlow: flow(number) });
    await found({ haulerId: hauler.id, status: '422' }, 2);
    const replay = (more: Plain) => admin('POST', '/exchanges/replay', { haulerId: hauler.id, status: '422', ...more });
    expect(await replay({ dryRun: true })).toMatchObject({ status: 200, body: { matched: 2, replayed: 0 } });
    await found({ haulerId: hauler.id, status: '422' }, 2);
    expect(await replay({})).toMatchObject({ status: 200, body: { matched: 2, replayed: 2 } });
    await found({ haulerId: hauler.id, status: '422' }, 4);
    expect((await replay({ dryRun: 'yes' })).status).toBe(400);
    expect((await admin('POST', '/exchanges/replay', {})).status).toBe(400);
  });

  test('of an outbound GET is sent again; an outbound POST, and a push whose body is not whole, is 409', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const { partner, connectionId } = await hauler.siteConnection();
    const before = partner.asked.length;
    const [sites] = await found({ connectionId });
    expect((await admin('POST', `/exchanges/${sites?.id ?? ''}/replay`)).status).toBe(201);
    expect(partner.asked.length).toBe(before + 1);
    expect((await pushText(hauler, JSON.stringify({ siteId: 'x', filler: 'x'.repeat(20_000) }))).status).toBe(400);
    const [long] = await found({ haulerId: hauler.id, status: '400' });
    const refused = await admin<ErrorBody>('POST', `/exchanges/${long?.id ?? ''}/replay`);
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('not kept whole')]);
  });
});

describe('a ticket', () => {
  test('keeps its accepted pushes with key, request, exchange and changes; the history has the refused ones (decision 23)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const number = `H-${randomUUID()}`;
    const { body } = await hauler.push({ inboundFlow: flow(number, 1) });
    await hauler.push({ inboundFlow: flow(number, 2), customFields: { truck: '7' } });
    await hauler.push({ inboundFlow: flow(number, 0) });
    await hauler.push({ ...unknownMaterial(), inboundFlow: flow(number, 3) });
    await found({ reference: `ticketNumber:${number}` }, 4);
    const path = `/tickets/${body.disposalTicketId}`;
    const changed = [
      { field: 'inboundFlow.updatedAt', before: '2026-01-31T08:01:00Z', after: '2026-01-31T08:02:00Z' },
      { field: 'customFields', after: { truck: '7' } },
    ];
    const { data } = await administer<{ data: Plain[] }>('GET', `${path}/revisions`);
    expect(data.map(({ revision, result, changes }) => [revision, result, changes])).toEqual([
      [1, 'created', []],
      [2, 'updated', changed],
      [3, 'stale', []],
    ]);
    expect(data[0]).toMatchObject({ requestId: expect.any(String), exchangeId: expect.any(String) });
    expect((await hauler.key()).startsWith(data[0]?.['keyPrefix'] as string)).toBe(true);
    const history = await administer<{ data: Plain[] }>('GET', `${path}/history`);
    const steps = history.data.map(({ event, status, result, changes }) => [event, status, result, changes]);
    expect(steps).toEqual([
      ['refused', 422, '422 materialExists', undefined],
      ['push', 200, 'stale', []],
      ['push', 200, 'updated', changed],
      ['push', 200, 'created', []],
    ]);
    expect(history.data[0]?.['text']).toContain('materials[0].id must be the id');
    for (const { exchangeId, keyPrefix } of history.data) expect([exchangeId, keyPrefix]).not.toContain(undefined);
  });
});

describe('an account', () => {
  test('has its creation, its repeats and the calls that wanted its name in its history', async () => {
    const hauler = await Hauler.create();
    const create = (accountName: string, idempotencyKey: string) =>
      hauler.createAccount<{ accountId: string }>({ accountName }, { idempotencyKey });
    const { body } = await create('Prairie', 'h1');
    await create('Prairie', 'h1');
    await create('PRAIRIE ', 'h2');
    await found({ haulerId: hauler.id }, 3);
    const { data } = await administer<{ data: Plain[] }>('GET', `/accounts/${body.accountId}/history`);
    expect(data.map(({ event, status, result }) => [event, status, result]).reverse()).toEqual([
      ['push', 200, 'created'],
      ['push', 200, 'replayed'],
      ['refused', 409, '409 NAME_TAKEN'],
    ]);
  });
});
