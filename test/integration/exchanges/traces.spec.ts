import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readEnv } from '../../../src/config/env.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { parseTraceparent } from '../../../src/outbound/trace-context.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { exchangeInFull } from '../../support/exchange-scene.js';
import { held } from '../../support/held.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { startScriptedPartner, type ScriptedPartner } from '../../support/scripted-partner.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: string } }[];
  readonly status: { readonly code?: number };
}

/** A collector that takes OTLP in JSON alone, as the specification has it, and answers what `answer` says. */
class Collector {
  readonly spans: Span[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  resource: Record<string, unknown> = {};
  faults: unknown[] = [];
  answer: RequestListener = (_request, response) => void response.end('{}');
  url = '';

  static async start(): Promise<Collector> {
    const collector = new Collector();
    const server = createServer((request, response) => {
      text(request)
        .then((body) => {
          collector.headers.push(request.headers);
          if (request.method !== 'POST' || request.url !== '/otlp/v1/traces') collector.faults.push(request.url);
          collector.read(JSON.parse(body) as never);
          collector.answer(request, response);
        })
        .catch((error: unknown) => collector.faults.push(error));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/otlp/`;
    held(async () => {
      server.closeAllConnections();
      server.close();
    });
    return collector;
  }

  private read({
    resourceSpans,
    ...others
  }: {
    resourceSpans: {
      resource: { attributes: Span['attributes'] };
      scopeSpans: { scope: { name: string }; spans: Span[] }[];
    }[];
  }): void {
    expect(others).toEqual({});
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = Object.fromEntries(resource.attributes.map(({ key, value }) => [key, value.stringValue]));
      for (const { spans } of scopeSpans) for (const span of spans) this.spans.push(checked(span));
    }
  }
}

const FIELDS = [
  'traceId',
  'spanId',
  'parentSpanId',
  'name',
  'kind',
  'startTimeUnixNano',
  'endTimeUnixNano',
  'attributes',
  'status',
];

/** Ids are hexadecimal and not all zero, 64-bit numbers are text, no field is null, and none has a name of our own. */
function checked(span: Span): Span {
  expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(span)));
  expect(span.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  expect(span.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
  if ('parentSpanId' in span) expect(span.parentSpanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
  for (const time of [span.startTimeUnixNano, span.endTimeUnixNano]) expect(time).toMatch(/^\d{19}$/);
  expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  expect(Math.abs(Number(BigInt(span.startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(600_000);
  expect([2, 3]).toContain(span.kind);
  for (const { key, value } of span.attributes) {
    expect(key).not.toBe('');
    expect([['stringValue'], ['intValue']]).toContainEqual(Object.keys(value));
    expect(typeof Object.values(value)[0]).toBe('string');
  }
  return span;
}

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

let collector: Collector;
let partner: ScriptedPartner;
let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  collector = await Collector.start();
  partner = await startScriptedPartner();
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES } = readEnv({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret-1,x-tenant=7',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other,note=a%2Cb',
  });
  service = await startTestApp({
    env: {
      OUTBOUND_ALLOW_PRIVATE: true,
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS,
      OTEL_RESOURCE_ATTRIBUTES,
      OTEL_SERVICE_NAME: 'scales',
    },
  });
  house = await ScaleHouse.open(service);
});
afterAll(async () => {
  await service.close();
  await partner.stop();
  expect(collector.faults).toEqual([]);
});
beforeEach(() => {
  collector.answer = (_request, response) => void response.end('{}');
});

/** The spans of one route, after those so far were posted. */
const spansOf = (name: string, isWanted: (span: Span) => boolean = () => true) =>
  eventually(async () => {
    await service.app.get(ExchangeLog).flush();
    const spans = collector.spans.filter((span) => span.name === name && isWanted(span));
    expect(spans.length).toBeGreaterThan(0);
    return spans;
  });
const metric = async (name: string) => {
  const { text: all } = await service.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
  });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(all)?.[1]);
};

test('a push with traceparent is a part of its trace, in the exchange and for the collector', async () => {
  const { status } = await house.push(
    house.ticket({ inboundFlow: { ticketNumber: 'TR-1', updatedAt: '2026-01-31T08:30:00Z' } }),
    { traceparent: TRACEPARENT },
  );
  expect(status).toBe(200);
  const exchange = await exchangeInFull(service, { reference: 'ticketNumber:TR-1' });
  expect(exchange).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
  const [span] = await spansOf('createTicket', ({ traceId }) => traceId === TRACE);
  expect(span).toMatchObject({ parentSpanId: PARENT, spanId: exchange.spanId, kind: 2, status: {} });
  expect(attributesOf(span!)).toMatchObject({
    'http.request.method': 'POST',
    'url.path': '/platform-api/v1/tickets',
    'http.response.status_code': 200,
    'haulbridge.exchange.id': exchange.id,
    'haulbridge.result': 'created',
  });
  expect(collector.resource).toMatchObject({
    'service.name': 'scales',
    'deployment.environment.name': 'test',
    note: 'a,b',
  });
  expect(collector.headers.at(-1)).toMatchObject({
    authorization: 'Bearer collector-secret-1',
    'x-tenant': '7',
    'content-type': 'application/json',
  });
});

test('a push with an invalid one has a trace of its own, and one that is not sampled has no span', async () => {
  const number = { ticketNumber: 'TR-2', updatedAt: '2026-01-31T08:30:00Z' };
  await house.push(house.ticket({ inboundFlow: number }), { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` });
  const own = await exchangeInFull(service, { reference: 'ticketNumber:TR-2' });
  expect(own).toMatchObject({ traceId: own.id.replaceAll('-', '') });
  expect(own).not.toHaveProperty('parentSpanId');
  await house.push(house.ticket({ inboundFlow: { ...number, ticketNumber: 'TR-3' } }), {
    traceparent: `00-${'a'.repeat(32)}-${PARENT}-00`,
  });
  await house.push(house.ticket({ inboundFlow: { ...number, ticketNumber: 'TR-4' } }), {
    traceparent: `00-${'b'.repeat(32)}-${PARENT}-01`,
  });
  await spansOf('createTicket', ({ traceId }) => traceId === 'b'.repeat(32));
  expect(collector.spans.filter(({ traceId }) => traceId === 'a'.repeat(32))).toEqual([]);
});

test('a call to a partner goes on with the trace of the request that caused it; work of its own begins one', async () => {
  partner.on(
    'GET /scale-platform/v1/sites',
    (response) => void response.setHeader('Content-Type', 'application/json').end('{"success":true,"data":{}}'),
  );
  const { body } = await service.admin<{ id: string }>('POST', '/connections', {
    haulerId: house.haulerId,
    interface: 'site',
    baseUrl: partner.url,
    apiKey: 'partner-key-1',
    intervalSeconds: 86_400,
  });
  await eventually(() => expect(partner.asked.length).toBeGreaterThan(0));
  expect(parseTraceparent(partner.asked[0]?.headers['traceparent'])).toBeDefined();
  expect(partner.asked[0]?.headers['tracestate']).toBeUndefined();
  partner.asked.length = 0;
  const { status } = await service.call('POST', `/admin/v1/connections/${body.id}/check`, {
    headers: {
      Authorization: `Bearer ${service.env.ADMIN_TOKEN}`,
      traceparent: TRACEPARENT,
      tracestate: 'rojo=1, congo=2',
    },
  });
  expect(status).toBe(200);
  const sent = partner.asked.map(({ headers }) => parseTraceparent(headers['traceparent']));
  expect(sent.map((trace) => trace?.traceId)).toEqual(sent.map(() => TRACE));
  expect(new Set([PARENT, ...sent.map((trace) => trace?.parentId)]).size).toBe(sent.length + 1);
  expect(partner.asked[0]?.headers['tracestate']).toBe('rojo=1, congo=2');
  const spans = await spansOf('getSites', ({ traceId, kind }) => traceId === TRACE && kind === 3);
  expect(spans[0]).toMatchObject({ parentSpanId: PARENT, spanId: sent[0]?.parentId });
});

describe('a collector that', () => {
  const pushAll = async (count: number) => {
    const flow = (n: number) => ({
      ticketNumber: `C-${collector.headers.length}-${n}`,
      updatedAt: '2026-01-31T08:30:00Z',
    });
    const started = performance.now();
    for (let n = 0; n < count; n++) expect((await house.push(house.ticket({ inboundFlow: flow(n) }))).status).toBe(200);
    await service.app.get(ExchangeLog).flush();
    return performance.now() - started;
  };

  test.each<[string, RequestListener, boolean]>([
    ['answers 400 takes no spans, which are counted', (_, response) => void response.writeHead(400).end(), true],
    [
      'redirects is not followed',
      (_, response) => void response.writeHead(307, { Location: collector.url }).end(),
      true,
    ],
  ])('%s', async (_title, answer, isDropped) => {
    collector.answer = answer;
    const [posts, dropped] = [collector.headers.length, await metric('spans_dropped_total')];
    await pushAll(2);
    await eventually(() => expect(collector.headers.length).toBeGreaterThan(posts));
    await eventually(async () => expect((await metric('spans_dropped_total')) > dropped).toBe(isDropped));
  });

  test('answers nothing holds up neither a push nor the log', async () => {
    collector.answer = () => undefined;
    const posts = collector.headers.length;
    await pushAll(1);
    await eventually(() => expect(collector.headers.length).toBeGreaterThan(posts));
    expect(await pushAll(20)).toBeLessThan(8_000);
    expect(await metric('exchanges_lost_total{reason="queue-full"}'.replaceAll(/[{}]/g, '\\$&'))).toBe(0);
  });
});
