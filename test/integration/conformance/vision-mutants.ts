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

/** Mutants of the rules that a list shares with the other lists; `first` is the number of its first rule. */
function listMutants(name: string, first: number, hasPagination: boolean): Mutant[] {
  const id = (offset: number) => `VISION-${String(first + offset).padStart(3, '0')}`;
  const swap = json((body) => {
    const element = listOf(body).at(-1);
    [element.startTime, element.endTime] = [element.endTime, element.startTime];
  });
  const page = (change: object) => json((body) => void Object.assign(body.data.pagination, change));
  return on(name, [
    [id(1), plain],
    [id(2), broken],
    [id(3), member('success', false)],
    [id(4), json((body) => ({ ...body, data: { [name === 'continuous' ? 'recordings' : 'videos']: 7 } }))],
    ...['id', 'customerId', 'truckId', 'cameraId'].map((field, i) => [id(10 + i), lastElement(field, 7)] as const),
    [id(14), lastElement('startTime', 'noon')],
    [id(15), lastElement('endTime', undefined)],
    [id(16), lastElement('durationSeconds', 'sixty')],
    [id(17), lastElement('downloadUrl', '/files/1')],
    [id(18), lastElement('expiresAt', undefined)],
    [id(19), exceeds],
    [id(19), lastElement('note', 'x'.repeat(1_100_000))],
    [id(20), swap],
    [id(21), lastElement('durationSeconds', 3_000)],
    [id(22), lastElement('customerId', 'other')],
    [id(23), lastElement('expiresAt', '2026-01-01T00:00:00Z')],
    [id(24), lastElement('expiresAt', inMinutes(10))],
    ...(hasPagination
      ? ([
          [id(30), page({ page: 'one' })],
          [id(31), page({ page: 2 })],
          [id(32), page({ pageSize: 50 })],
          [id(33), page({ totalPages: 9 })],
          [id(33), page({ totalPages: 9, pageSize: undefined })],
          [id(34), page({ totalItems: 99, totalPages: 5 })],
        ] as const)
      : []),
  ]);
}

/** Mutants of two pages of one element each. */
function pageMutants(list: string, first: number): Mutant[] {
  const id = (offset: number) => `VISION-${String(first + offset).padStart(3, '0')}`;
  const idIn = (answer: KitAnswer | undefined) => /"id":"[^"]*"/.exec(answer?.body.toString('utf8') ?? '')?.[0] ?? '';
  return [
    ...on(`${list}Page1`, [
      [id(1), json((body) => void listOf(body).push({ ...listOf(body)[0], id: 'second' }))],
      [id(2), member('data.pagination.pageSize', 20)],
    ]),
    ...on(`${list}Page2`, [
      [
        id(5),
        (answer, others) => ({
          ...answer,
          body: Buffer.from(answer.body.toString('utf8').replace(/"id":"[^"]*"/, idIn(others.get(`${list}Page1`)))),
        }),
      ],
      [id(4), member('data.pagination.page', 1)],
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

const elsewhere = { id: 'elsewhere', startTime: '2020-01-01T00:00:00Z', endTime: '2020-01-01T00:01:00Z' };

interface FilterIds {
  readonly camera: string;
  readonly whole: string;
  readonly narrow: string;
  readonly known: string;
  readonly empty: string;
  readonly knownCamera: string;
  readonly emptyOfCamera: string;
  readonly counted: string;
  readonly divided: string;
}
const VIDEOS: FilterIds = {
  camera: 'VISION-041',
  whole: 'VISION-401',
  narrow: 'VISION-402',
  known: 'VISION-403',
  empty: 'VISION-405',
  knownCamera: 'VISION-406',
  emptyOfCamera: 'VISION-407',
  counted: 'VISION-409',
  divided: 'VISION-410',
};
const CONTINUOUS: FilterIds = {
  camera: 'VISION-142',
  whole: 'VISION-451',
  narrow: 'VISION-452',
  known: 'VISION-453',
  empty: 'VISION-455',
  knownCamera: 'VISION-456',
  emptyOfCamera: 'VISION-457',
  counted: 'VISION-459',
  divided: 'VISION-460',
};

/** Mutants of lists with a filter, or with another pageSize. */
const filterMutants = (list: string, ids: FilterIds): Mutant[] => [
  ...on(`${list}OfCamera`, [
    [ids.camera, lastElement('cameraId', 'rear')],
    // An empty list as soon as a camera is named.
    [ids.camera, listing(() => [])],
    [ids.whole, listing((elements) => elements.slice(1))],
    [ids.counted, json((body) => void Object.assign(body.data.pagination, { totalItems: 99, totalPages: 5 }))],
  ]),
  ...on(`${list}Inside`, [[ids.narrow, listing((elements) => [...elements, { ...elements[0], ...elsewhere }])]]),
  ...on(`${list}Nowhere`, [
    [ids.known, status(404)],
    [ids.empty, listOfRequest(list)],
    [ids.counted, json((body) => void Object.assign(body.data.pagination, { totalItems: 3, totalPages: 1 }))],
  ]),
  ...on(`${list}NowhereOfCamera`, [
    [ids.knownCamera, status(404)],
    [ids.emptyOfCamera, listOfRequest(list)],
  ]),
  // The totalPages of another page size.
  ...on(`${list}Page1`, [[ids.divided, member('data.pagination.totalPages', 1)]]),
  ...on(`${list}FullPage`, [[ids.divided, member('data.pagination.totalPages', 7)]]),
];

export const VISION: Mutant[] = [
  ...listMutants('videos', 1, true),
  ...listMutants('continuous', 101, true),
  ...listMutants('clip', 301, false),
  ...readingMutants('videos', 1, ['VISION-045', 'VISION-046', 'VISION-047', 'VISION-048']),
  ...readingMutants('continuous', 101, ['VISION-152', 'VISION-153', 'VISION-154', 'VISION-155']),
  ...on('videos', [
    ['VISION-006', json(({ data: { videos, ...data }, ...body }) => ({ ...body, data: { ...data, items: videos } }))],
    ['VISION-007', member('data.pagination', undefined)],
  ]),
  ...filterMutants('videos', VIDEOS),
  ...filterMutants('continuous', CONTINUOUS),
  ...on('videosOfTruck', [
    ['VISION-040', lastElement('truckId', 'OTHER')],
    ['VISION-040', listing(() => [])],
    ['VISION-400', listing((elements) => elements.slice(1))],
  ]),
  ...on('videosOfUnknownRequest', [['VISION-408', listOfRequest('videos')]]),
  ...on('videosInRange', [
    ['VISION-042', listing(() => [])],
    [
      'VISION-042',
      json(
        (body) =>
          void Object.assign(listOf(body).at(-1), {
            startTime: '2020-01-01T00:00:00Z',
            endTime: '2020-01-01T00:01:00Z',
          }),
      ),
    ],
  ]),
  ...on('videosLargePage', [
    [
      'VISION-043',
      (answer) => ({
        ...answer,
        status: 200,
        body: Buffer.from('{"success":true,"data":{"videos":[],"pagination":{"pageSize":101}}}'),
      }),
    ],
  ]),
  ...on('continuous', [
    ['VISION-140', lastElement('truckId', 'OTHER')],
    [
      'VISION-141',
      json(
        (body) =>
          void Object.assign(listOf(body).at(-1), {
            startTime: '2020-01-01T00:00:00Z',
            endTime: '2020-01-01T00:01:00Z',
          }),
      ),
    ],
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
  ...pageMutants('videos', 80),
  ...pageMutants('continuous', 144),
  ...on('videosFullPage', [['VISION-044', member('data.pagination.pageSize', 50)]]),
  ...on('continuousFullPage', [['VISION-151', member('data.pagination.pageSize', 50)]]),
  ...on('continuousLargePage', [
    [
      'VISION-150',
      (answer) => ({
        ...answer,
        status: 200,
        body: Buffer.from('{"success":true,"data":{"recordings":[],"pagination":{"pageSize":101}}}'),
      }),
    ],
  ]),
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
    ['VISION-208', member('status', 'ready')],
  ]),
  ...on('clip', [
    ['VISION-306', lastElement('requestId', 'other')],
    ['VISION-420', lastElement('truckId', 'OTHER')],
    ['VISION-420', lastElement('cameraId', 'rear')],
    [
      'VISION-308',
      json(
        (body) =>
          void Object.assign(listOf(body).at(-1), {
            startTime: '2020-01-01T00:00:00Z',
            endTime: '2020-01-01T00:01:00Z',
            durationSeconds: 60,
          }),
      ),
    ],
    ['VISION-309', lastElement('requestId', undefined)],
  ]),
  ...on(/^clip(Again)?$/, [
    ['VISION-307', json((body) => ({ ...body, data: { videos: [], request: { requestId: 'r', status: 'failed' } } }))],
    ['VISION-307', json((body) => ({ ...body, data: { videos: [], request: { requestId: 'r', status: 'ready' } } }))],
  ]),
  ...on('clipAgain', [
    ['VISION-422', member('data.request.status', 'processing')],
    ['VISION-422', member('data.request.status', 'failed')],
    ['VISION-421', listing(() => [])],
  ]),
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
