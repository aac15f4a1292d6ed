/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-return
   -- a fault breaks the types of the contract on purpose */
import 'reflect-metadata';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KitAnswer, KitRequest, Send } from '../../../src/conformance/exchange.js';
import { httpTransport } from '../../../src/conformance/http-transport.js';
import { runServerRole } from '../../../src/conformance/run.js';
import { VISION_SERVER } from '../../../src/conformance/vision/vision-server.js';
import { type Body, json } from './mutant.js';

/** The sample server of the guide, and servers that differ from it in one habit. */

const ROOT = join(import.meta.dirname, '../../..');
const HAULER = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const PARTNER_KEY = 'key-of-the-partner';

let url: string;
let sample: ChildProcess;
const transport = httpTransport(20_000);
beforeAll(async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const PORT = String((probe.address() as AddressInfo).port);
  probe.close();
  await once(probe, 'close');
  url = `http://127.0.0.1:${PORT}`;
  const env = { PORT, PARTNER_KEY, HAULER, VIDEO: join(ROOT, 'src/demo/recordings/front-0.mp4') };
  sample = spawn(process.execPath, [join(ROOT, 'docs/guides/sample-server.mjs')], { env, stdio: 'pipe' });
  await once(sample.stdout as NodeJS.ReadableStream, 'data');
});
afterAll(async () => {
  transport.close();
  sample.kill();
  await once(sample, 'exit');
});

/** A server between the kit and the sample server; `next` asks the sample server. */
type Fault = (request: KitRequest, next: Send) => Promise<KitAnswer>;

async function found(fault: Fault): Promise<string[]> {
  const results = await runServerRole(VISION_SERVER, {
    baseUrl: url,
    apiKey: PARTNER_KEY,
    fixtures: { customerId: HAULER, truckId: 'TRUCK-7' },
    runId: 'kit-faults',
    pause: async () => undefined,
    refuse: () => undefined,
    send: (request) => fault(request, (each) => transport.send(each)),
  });
  return results.flatMap(({ rule, outcome }) =>
    ['failed', 'warning', 'kit-error'].includes(outcome) ? [rule.id] : [],
  );
}

const edited = (answer: KitAnswer, edit: (data: Body) => void): KitAnswer =>
  answer.status === 200 ? json((body) => void edit(body.data))(answer, new Map(), '', '') : answer;

const isList = ({ operation }: KitRequest) => operation === 'listVideos' || operation === 'listContinuous';

const onLists =
  (edit: (data: Body, query: URLSearchParams) => void): Fault =>
  async (request, next) => {
    const answer = await next(request);
    return isList(request) ? edited(answer, (data) => edit(data, new URL(request.url).searchParams)) : answer;
  };

/** A filter or page that the server does not look at. */
const ignoring =
  (...names: string[]): Fault =>
  (request, next) => {
    const asked = new URL(request.url);
    // A range is required, and its form is checked.
    const wide: Record<string, string> = { startTime: '2000-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z' };
    for (const name of isList(request) ? names.filter((each) => asked.searchParams.has(each)) : []) {
      if (wide[name] === undefined || request.operation === 'listVideos') asked.searchParams.delete(name);
      else if (!Number.isNaN(Date.parse(asked.searchParams.get(name) ?? ''))) asked.searchParams.set(name, wide[name]);
    }
    return next({ ...request, url: asked.href });
  };

const notFound: KitAnswer = {
  status: 404,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"success":false,"error":{"code":"NOT_FOUND","message":"nothing was recorded"}}'),
};

const elementsOf = (data: Body): Body[] => data.videos ?? data.recordings;

/** Each request is kept under the id of the first one. */
function withOneRequestId(): Fault {
  const ids: string[] = [];
  return async (request, next) => {
    const asked = new URL(request.url);
    if (asked.searchParams.get('requestId') === 'request-1')
      asked.searchParams.set('requestId', ids.at(-1) ?? 'request-1');
    const answer = await next({ ...request, url: asked.href });
    if (request.operation !== 'requestVideo' || answer.status !== 202) return answer;
    const body = JSON.parse(answer.body.toString('utf8'));
    ids.push(body.requestId);
    return { ...answer, body: Buffer.from(JSON.stringify({ ...body, requestId: 'request-1' })) };
  };
}

/** What the server does in the list of a request, from its second reading on. */
function laterLists(edit: (data: Body) => void): Fault {
  const read = new Set<string>();
  return onLists((data, query) => {
    const requestId = query.get('requestId');
    if (requestId === null) return;
    if (read.has(requestId)) edit(data);
    read.add(requestId);
  });
}

test('the sample server breaks no rule', async () => {
  expect(await found((request, next) => next(request))).toEqual([]);
});

test.each<[string, Fault, string[]]>([
  [
    'sends the totalPages of the default page size',
    onLists(({ pagination }) => void (pagination.totalPages = Math.ceil(pagination.totalItems / 20))),
    ['VISION-137'],
  ],
  [
    'sends the totalPages of pages of two elements',
    onLists(({ pagination }) => void (pagination.totalPages = Math.ceil(pagination.totalItems / 2))),
    ['VISION-034', 'VISION-134', 'VISION-460'],
  ],
  [
    'lists chunks that end before they start',
    onLists((data) => {
      for (const each of data.recordings ?? []) [each.startTime, each.endTime] = [each.endTime, each.startTime];
    }),
    ['VISION-121'],
  ],
  [
    'lists nothing as soon as a camera is named',
    onLists((data, query) => {
      if (!query.has('cameraId')) return;
      elementsOf(data).length = 0;
      Object.assign(data.pagination, { totalItems: 0, totalPages: 0 });
    }),
    ['VISION-041', 'VISION-142'],
  ],
  [
    'answers 404 where a known truck has no footage in the range',
    async (request, next) => {
      const answer = await next(request);
      if (request.operation !== 'listContinuous' || answer.status !== 200) return answer;
      return elementsOf(JSON.parse(answer.body.toString('utf8')).data).length === 0 ? notFound : answer;
    },
    ['VISION-153', 'VISION-453', 'VISION-456'],
  ],
  ['has one requestId for all requests', withOneRequestId(), ['VISION-423']],
  ['ignores cameraId', ignoring('cameraId'), ['VISION-142', 'VISION-176']],
  ['ignores the range', ignoring('startTime', 'endTime'), ['VISION-455']],
  ['ignores the start of a range', ignoring('startTime'), ['VISION-452']],
  ['ignores requestId', ignoring('requestId'), ['VISION-408']],
  ['ignores page', ignoring('page'), ['VISION-128']],
  [
    'shows a request as processing after it was ready',
    laterLists((data) => void (data.request = { ...data.request, status: 'processing' })),
    ['VISION-422'],
  ],
  [
    'lists a clip once',
    laterLists((data) => {
      data.videos = [];
      Object.assign(data.pagination, { totalItems: 0, totalPages: 0 });
    }),
    ['VISION-421'],
  ],
  [
    'is ready without a clip',
    onLists((data, query) => {
      if (query.has('requestId')) data.videos = [];
    }),
    ['VISION-307'],
  ],
])('a server that %s is found', async (_, fault, rules) => {
  expect(await found(fault)).toEqual(expect.arrayContaining(rules));
});
