/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument
   -- a mutant breaks the types of the contract on purpose */
import type { KitAnswer } from '../../../src/conformance/exchange.js';
import {
  type Body,
  broken,
  bytes,
  type Change,
  header,
  json,
  member,
  type Mutant,
  on,
  plain,
  renamed,
  set,
  status,
} from './mutant.js';
import { readingMutants } from './reading-mutants.js';

const listOf = (body: Body): Body[] => body.data.videos ?? body.data.recordings;
const lastElement = (path: string, value: unknown): Change =>
  json((body) => void set(listOf(body).at(-1), path, value));
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

/** An answer that the platform does not read to its end. */
const exceeds: Change = (answer) => ({ ...answer, body: Buffer.alloc(0), exceeds: 268_435_456 });

/** Mutants of the rules that a list shares with the other lists. */
function listMutants(name: 'videos' | 'continuous' | 'clip'): Mutant[] {
  const id = (videos: string, continuous: string, clip = '') => ({ videos, continuous, clip })[name];
  const swap = json((body) => {
    const element = listOf(body).at(-1);
    [element.startTime, element.endTime] = [element.endTime, element.startTime];
  });
  const page = (change: object) => json((body) => void Object.assign(body.data.pagination, change));
  return on(name, [
    [id('VISION-002', 'VISION-102', 'VISION-302'), plain],
    [id('VISION-003', 'VISION-103', 'VISION-303'), broken],
    [id('VISION-004', 'VISION-104', 'VISION-304'), member('success', false)],
    [
      id('VISION-005', 'VISION-105', 'VISION-305'),
      json((body) => ({ ...body, data: { [name === 'continuous' ? 'recordings' : 'videos']: 7 } })),
    ],
    [
      id('VISION-005', 'VISION-105', 'VISION-305'),
      name === 'continuous' ? renamed('data.recordings', 'Recordings') : renamed('data.videos', 'Videos'),
    ],
    [id('VISION-011', 'VISION-111', 'VISION-311'), lastElement('id', 7)],
    [id('VISION-012', 'VISION-112', 'VISION-312'), lastElement('customerId', 7)],
    [id('VISION-013', 'VISION-113', 'VISION-313'), lastElement('truckId', 7)],
    [id('VISION-014', 'VISION-114', 'VISION-314'), lastElement('cameraId', 7)],
    [id('VISION-015', 'VISION-115', 'VISION-315'), lastElement('startTime', 'noon')],
    [id('VISION-016', 'VISION-116', 'VISION-316'), lastElement('endTime', undefined)],
    [id('VISION-017', 'VISION-117', 'VISION-317'), lastElement('durationSeconds', 'sixty')],
    [id('VISION-018', 'VISION-118', 'VISION-318'), lastElement('downloadUrl', '/files/1')],
    [id('VISION-019', 'VISION-119', 'VISION-319'), lastElement('expiresAt', undefined)],
    [id('VISION-020', 'VISION-120', 'VISION-320'), exceeds],
    [id('VISION-020', 'VISION-120', 'VISION-320'), lastElement('note', 'x'.repeat(1_100_000))],
    [id('VISION-021', 'VISION-121', 'VISION-321'), swap],
    [id('VISION-022', 'VISION-122', 'VISION-322'), lastElement('durationSeconds', 3_000)],
    [id('VISION-023', 'VISION-123', 'VISION-323'), lastElement('customerId', 'other')],
    [id('VISION-024', 'VISION-124', 'VISION-324'), lastElement('expiresAt', '2026-01-01T00:00:00Z')],
    [id('VISION-025', 'VISION-125', 'VISION-325'), lastElement('expiresAt', inMinutes(10))],
    ...(name !== 'clip'
      ? ([
          [id('VISION-031', 'VISION-131'), page({ page: 'one' })],
          [id('VISION-031', 'VISION-131'), renamed('data.pagination.pageSize', 'page_size')],
          [id('VISION-032', 'VISION-132'), page({ page: 2 })],
          [id('VISION-033', 'VISION-133'), page({ pageSize: 50 })],
          [id('VISION-034', 'VISION-134'), page({ totalPages: 9 })],
          [id('VISION-034', 'VISION-134'), page({ totalPages: 9, pageSize: undefined })],
          [id('VISION-035', 'VISION-135'), page({ totalItems: 99, totalPages: 5 })],
        ] as const)
      : []),
  ]);
}

/** Mutants of two pages of one element each. */
function pageMutants(list: 'videos' | 'continuous'): Mutant[] {
  const id = (videos: string, continuous: string) => ({ videos, continuous })[list];
  const idIn = (answer: KitAnswer | undefined) => /"id":"[^"]*"/.exec(answer?.body.toString('utf8') ?? '')?.[0] ?? '';
  return [
    ...on(`${list}Page1`, [
      [id('VISION-081', 'VISION-145'), json((body) => void listOf(body).push({ ...listOf(body)[0], id: 'second' }))],
      [id('VISION-082', 'VISION-146'), member('data.pagination.pageSize', 20)],
    ]),
    ...on(`${list}Page2`, [
      [
        id('VISION-085', 'VISION-149'),
        (answer, others) => ({
          ...answer,
          body: Buffer.from(answer.body.toString('utf8').replace(/"id":"[^"]*"/, idIn(others.get(`${list}Page1`)))),
        }),
      ],
      [id('VISION-084', 'VISION-148'), member('data.pagination.page', 1)],
    ]),
  ];
}

/** Another list of elements, with the totals of a server that filters first. */
const listing = (edit: (elements: Body[]) => Body[]): Change =>
  json((body) => {
    const name = body.data.videos === undefined ? 'recordings' : 'videos';
    body.data[name] = edit(body.data[name]);
    const { length } = body.data[name];
    const { pageSize } = body.data.pagination;
    Object.assign(body.data.pagination, { totalItems: length, totalPages: Math.ceil(length / pageSize) });
  });

/** A server that ignores the filter: the list of another request. */
const listOfRequest =
  (name: string): Change =>
  (answer, others) =>
    others.get(name) ?? answer;

const elsewhere = { startTime: '2020-01-01T00:00:00Z', endTime: '2020-01-01T00:01:00Z' };
const lastElsewhere = json((body) => void Object.assign(listOf(body).at(-1), elsewhere));

/** A page that is larger than a server may send. */
const largePage =
  (name: 'videos' | 'recordings'): Change =>
  (answer) => ({
    ...answer,
    status: 200,
    body: Buffer.from(`{"success":true,"data":{"${name}":[],"pagination":{"pageSize":101}}}`),
  });

/** Mutants of lists with a filter, or with another pageSize. */
function filterMutants(list: 'videos' | 'continuous'): Mutant[] {
  const id = (videos: string, continuous: string) => ({ videos, continuous })[list];
  const [camera, counted, divided] = [
    id('VISION-041', 'VISION-142'),
    id('VISION-409', 'VISION-459'),
    id('VISION-410', 'VISION-460'),
  ];
  return [
    ...on(`${list}OfCamera`, [
      [camera, lastElement('cameraId', 'rear')],
      // An empty list as soon as a camera is named.
      [camera, listing(() => [])],
      [id('VISION-401', 'VISION-451'), listing((elements) => elements.slice(1))],
      [counted, json((body) => void Object.assign(body.data.pagination, { totalItems: 99, totalPages: 5 }))],
    ]),
    ...on(`${list}Inside`, [
      [
        id('VISION-402', 'VISION-452'),
        listing((elements) => [...elements, { ...elements[0], id: 'elsewhere', ...elsewhere }]),
      ],
    ]),
    ...on(`${list}Nowhere`, [
      [id('VISION-403', 'VISION-453'), status(404)],
      [id('VISION-405', 'VISION-455'), listOfRequest(list)],
      [counted, json((body) => void Object.assign(body.data.pagination, { totalItems: 3, totalPages: 1 }))],
    ]),
    ...on(`${list}NowhereOfCamera`, [
      [id('VISION-406', 'VISION-456'), status(404)],
      [id('VISION-407', 'VISION-457'), listOfRequest(list)],
    ]),
    // The totalPages of another page size.
    ...on(`${list}Page1`, [[divided, member('data.pagination.totalPages', 1)]]),
    ...on(`${list}FullPage`, [[divided, member('data.pagination.totalPages', 7)]]),
  ];
}

/** The state of the request in two lists of its clip. */
const statesOf =
  (before: string, after: string): Change =>
  (answer, others, plan, url) =>
    member('data.request.status', plan === 'clip' ? before : after)(answer, others, plan, url);

export const VISION: Mutant[] = [
  ...listMutants('videos'),
  ...listMutants('continuous'),
  ...listMutants('clip'),
  ...readingMutants('videos'),
  ...readingMutants('continuous'),
  ...on('videos', [
    ['VISION-006', json(({ data: { videos, ...data }, ...body }) => ({ ...body, data: { ...data, items: videos } }))],
    ['VISION-007', member('data.pagination', undefined)],
  ]),
  ...filterMutants('videos'),
  ...filterMutants('continuous'),
  ...on('videosOfTruck', [
    ['VISION-040', lastElement('truckId', 'OTHER')],
    ['VISION-040', listing(() => [])],
    ['VISION-400', listing((elements) => elements.slice(1))],
  ]),
  ...on('videosOfUnknownRequest', [['VISION-408', listOfRequest('videos')]]),
  ...on('videosInRange', [
    ['VISION-042', listing(() => [])],
    ['VISION-042', lastElsewhere],
  ]),
  ...on('videosLargePage', [['VISION-043', largePage('videos')]]),
  ...on('continuous', [
    ['VISION-140', lastElement('truckId', 'OTHER')],
    ['VISION-141', lastElsewhere],
    [
      'VISION-143',
      json((body) => {
        for (const element of listOf(body).slice(1)) {
          element.endTime = new Date(Date.parse(element.startTime) + 20_000).toISOString();
          element.durationSeconds = 20;
        }
      }),
    ],
  ]),
  ...pageMutants('videos'),
  ...pageMutants('continuous'),
  ...on('videosFullPage', [['VISION-044', member('data.pagination.pageSize', 50)]]),
  ...on('continuousFullPage', [['VISION-151', member('data.pagination.pageSize', 50)]]),
  ...on('continuousLargePage', [['VISION-150', largePage('recordings')]]),
  ...on('download', [
    ['VISION-161', bytes('<html>Log in</html>')],
    ['VISION-161', bytes('')],
    [
      'VISION-162',
      (...all) =>
        header('transfer-encoding', 'chunked')(header('content-length', undefined)(...all), all[1], all[2], all[3]),
    ],
    ['VISION-163', header('etag', undefined)],
    ['VISION-167', (answer) => ({ ...answer, body: answer.body.subarray(0, 5_000), cut: 'the connection closed' })],
    ['VISION-168', (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2) })],
    ['VISION-168', (answer) => ({ ...answer, body: answer.body.subarray(0, 32) })],
    ['VISION-169', header('content-length', undefined)],
    ['VISION-169', header('content-encoding', 'gzip')],
  ]),
  ...on('downloadPart', [
    ['VISION-164', status(200)],
    ['VISION-164', (answer) => ({ ...answer, body: Buffer.alloc(answer.body.length) })],
    ['VISION-164', header('content-range', undefined)],
  ]),
  ...on('resumed', [
    ['VISION-165', header('content-range', 'bytes 0-9/10')],
    ['VISION-165', (answer) => ({ ...answer, body: Buffer.alloc(answer.body.length) })],
    ['VISION-165', status(200)],
    ['VISION-165', status(416)],
    ['VISION-166', header('etag', '"other"')],
    // A server that ignores Range does no harm.
    ['', (answer, others) => ({ ...answer, status: 200, body: others.get('download')?.body ?? Buffer.alloc(0) })],
  ]),
  ...on('afterRefusedBody', [
    ['VISION-216', status(501)],
    ['VISION-216', status(400)],
  ]),
  ...on('VISION-190', [['VISION-178', member('error.details', { violations: [] })]]),
  ...on('request', [
    ['VISION-209', exceeds],
    ['VISION-202', plain],
    ['VISION-203', broken],
    ['VISION-204', member('success', 'true')],
    ['VISION-205', member('requestId', 7)],
    ['VISION-206', member('status', 'queued')],
    ['VISION-207', member('message', 7)],
  ]),
  ...on('clip', [
    ['VISION-306', lastElement('requestId', 'other')],
    ['VISION-420', lastElement('truckId', 'OTHER')],
    ['VISION-420', lastElement('cameraId', 'rear')],
    ['VISION-308', json((body) => void Object.assign(listOf(body).at(-1), elsewhere, { durationSeconds: 60 }))],
    ['VISION-309', lastElement('requestId', undefined)],
  ]),
  // Our own server may list a clip while its request is still processing.
  ...on(/^(request|clip|clipAgain)$/, [
    [
      'VISION-208',
      (answer, others, plan, url) =>
        member(plan === 'request' ? 'status' : 'data.request.status', 'ready')(answer, others, plan, url),
    ],
  ]),
  ...on(/^clip(Again)?$/, [
    ['VISION-422', statesOf('ready', 'processing')],
    ['VISION-422', statesOf('failed', 'ready')],
    ['VISION-307', json((body) => ({ ...body, data: { videos: [], request: { requestId: 'r', status: 'failed' } } }))],
    ['VISION-307', json((body) => ({ ...body, data: { videos: [], request: { requestId: 'r', status: 'ready' } } }))],
  ]),
  ...on('clipAgain', [['VISION-421', listing(() => [])]]),
  ...on('secondRequest', [
    ['VISION-423', (answer, others) => ({ ...answer, body: others.get('request')?.body ?? answer.body })],
  ]),
  ...on('requestNowhere', [['VISION-424', status(404)]]),
  ...on('clipDownload', [
    ['VISION-361', bytes('{}')],
    ['VISION-362', (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2) })],
    ['VISION-362', (answer) => ({ ...answer, cut: 'the connection closed' })],
  ]),
];
