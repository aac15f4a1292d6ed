/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-argument
   -- a mutant breaks the types of the contract on purpose */
import type { KitAnswer } from '../../src/conformance/exchange.js';
import { bodyRuleOf } from '../../src/conformance/refusals.js';
import type { ServerRole } from '../../src/conformance/rule.js';

/** A server that differs from ours in the answer of one request, and the rule that must notice it. */
export interface Mutant {
  readonly rule: string;
  readonly on: string;
  /** `others` are the answers of our own server, by request. */
  readonly change: (answer: KitAnswer, others: ReadonlyMap<string, KitAnswer>) => KitAnswer;
}

type Body = any;
type Change = Mutant['change'];

const json =
  (change: (body: Body) => unknown): Change =>
  (answer) => {
    const body: unknown = JSON.parse(answer.body.toString('utf8'));
    return { ...answer, body: Buffer.from(JSON.stringify(change(body) ?? body)) };
  };
const status =
  (code: number): Change =>
  (answer) => ({ ...answer, status: code });
const header =
  (name: string, value: string | undefined): Change =>
  (answer) => {
    const others = Object.entries(answer.headers).filter(([each]) => each !== name);
    return { ...answer, headers: Object.fromEntries(value === undefined ? others : [...others, [name, value]]) };
  };
const plain = header('content-type', 'text/plain');
const broken: Change = (answer) => ({ ...answer, body: Buffer.from('{"success":') });
const bytes =
  (text: string): Change =>
  (answer) => ({ ...answer, body: Buffer.from(text) });

/** Sets members of the last element of a list, or of the body; a path such as `billingAddress.city`. */
function set(target: Body, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((each: Body, name) => each[name], target);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}
const member = (path: string, value: unknown): Change => json((body) => void set(body, path, value));

/** Error bodies that are not the common one. */
const BODY_FAULTS: readonly Change[] = [
  member('success', true),
  member('error.message', undefined),
  member('error.code', 'OOPS'),
  member('error', 'no'),
  plain,
];
const accepted: Change = (answer) => ({ ...answer, status: 200, body: Buffer.from('{"success":true}') });

/** Each row of the table of refused requests: a server that accepts it, and servers that refuse it with another body. */
const ofTable = ({ refused }: ServerRole): Mutant[] =>
  refused.flatMap(({ rows }) =>
    rows.flatMap(([id]) => [
      { rule: id, on: id, change: accepted },
      ...BODY_FAULTS.map((change) => ({ rule: bodyRuleOf(id), on: id, change })),
    ]),
  );

/** The first rule of each other exchange. */
function ofExchanges({ rules, refused }: ServerRole): Mutant[] {
  const seen = new Set(refused.flatMap(({ rows }) => rows.map(([id]) => id)));
  return rules.flatMap(({ id, on, section }): Mutant[] => {
    if (seen.has(on)) return [];
    seen.add(on);
    // The error body of a 500.
    if (section === '7') return BODY_FAULTS.map((change) => ({ rule: id, on, change }));
    return [{ rule: id, on, change: status(section === '8' && /Page$/.test(on) ? 500 : 503) }];
  });
}

const NEW_ID = '3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d';
const OTHER_ID = '3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3e';

/** Adds a record that no other refers to, with one change. */
const added = (list: string, path: string, value: unknown): Change =>
  json((body) => {
    const first = body.data.sites[0];
    const records: Body = {
      sites: { ...structuredClone(first), id: NEW_ID },
      kiosks: { ...body.data.kiosks[0], id: NEW_ID, siteId: first.id },
      materials: { ...body.data.materials[0], id: NEW_ID },
    };
    set(records[list], path, value);
    body.data[list].push(records[list]);
  });

const on = (name: string, rows: readonly (readonly [rule: string, change: Change])[]): Mutant[] =>
  rows.map(([rule, change]) => ({ rule, on: name, change }));

const SITE: Mutant[] = on('list', [
  ['SITE-002', plain],
  ['SITE-003', broken],
  ['SITE-004', member('success', 'yes')],
  ['SITE-005', member('data', [])],
  ['SITE-006', member('data.sites', {})],
  ['SITE-007', member('data.kiosks', 'none')],
  ['SITE-008', member('data.materials', [7])],
  ['SITE-010', added('sites', 'id', 'site-1')],
  ['SITE-011', added('sites', 'name', 'x'.repeat(256))],
  ['SITE-011', added('sites', 'name', undefined)],
  ['SITE-012', added('sites', 'address', 'Austin')],
  ['SITE-013', added('sites', 'address.line1', undefined)],
  ['SITE-014', added('sites', 'address.city', 7)],
  ['SITE-015', added('sites', 'address.state', 'x'.repeat(101))],
  ['SITE-016', added('sites', 'address.country', undefined)],
  ['SITE-017', added('sites', 'address.zipCode', 78744)],
  ['SITE-018', added('sites', 'active', 'yes')],
  ['SITE-019', added('sites', 'updatedAt', '15/01/2026')],
  ['SITE-020', added('kiosks', 'id', 1)],
  ['SITE-021', added('kiosks', 'siteId', 'site-1')],
  ['SITE-022', added('kiosks', 'name', undefined)],
  ['SITE-023', added('kiosks', 'active', 1)],
  ['SITE-024', added('kiosks', 'updatedAt', '2026-01-15')],
  ['SITE-030', added('materials', 'id', undefined)],
  ['SITE-031', added('materials', 'siteId', 'site-1')],
  ['SITE-032', added('materials', 'kioskId', 'kiosk-1')],
  ['SITE-033', added('materials', 'materialType', 'x'.repeat(101))],
  ['SITE-034', added('materials', 'measureUnit', 'Gallon')],
  ['SITE-035', added('materials', 'active', 'true')],
  ['SITE-036', added('materials', 'updatedAt', 1_768_471_200)],
  [
    'SITE-037',
    json((body) => {
      body.data.materials.push({ ...body.data.materials[0], id: NEW_ID, siteId: undefined, kioskId: undefined });
    }),
  ],
  ['SITE-040', json((body) => void body.data.sites.push(body.data.sites[0]))],
  ['SITE-041', json((body) => void body.data.kiosks.push(body.data.kiosks[0]))],
  ['SITE-042', json((body) => void body.data.materials.push(body.data.materials[0]))],
  ['SITE-047', added('sites', 'updatedAt', '2099-01-15T08:00:00Z')],
  ['SITE-048', added('kiosks', 'updatedAt', '2099-01-15T08:00:00+01:00')],
  ['SITE-049', added('materials', 'updatedAt', '2099-01-15T08:00:00Z')],
  ['SITE-043', added('kiosks', 'siteId', OTHER_ID)],
  ['SITE-044', added('materials', 'siteId', OTHER_ID)],
  ['SITE-045', added('materials', 'kioskId', OTHER_ID)],
  [
    'SITE-046',
    json(
      (body) => void body.data.materials.push({ ...body.data.materials[0], id: NEW_ID, siteId: body.data.sites[1].id }),
    ),
  ],
]);

/** The second list of the same data. */
const AGAIN: Mutant[] = on('again', [
  ['SITE-071', json((body) => void body.data.materials.forEach((each: Body, i: number) => (each.id = otherId(i))))],
  ['SITE-071', json((body) => void body.data.sites.forEach((each: Body, i: number) => (each.id = otherId(i))))],
  ['SITE-072', json((body) => void (body.data.kiosks[0].updatedAt = '2026-02-01T00:00:00Z'))],
]);
const otherId = (i: number) => `3f2b8c1e-5d4a-4f6b-9c7d-${String(i).padStart(12, '0')}`;

const listOf = (body: Body): Body[] => body.data.videos ?? body.data.recordings;
const lastElement = (path: string, value: unknown): Change =>
  json((body) => void set(listOf(body).at(-1), path, value));
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

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

const VISION: Mutant[] = [
  ...listMutants('videos', 1, true),
  ...listMutants('continuous', 101, true),
  ...listMutants('clip', 301, false),
  ...on('videos', [
    ['VISION-006', json(({ data: { videos, ...data }, ...body }) => ({ ...body, data: { ...data, items: videos } }))],
    ['VISION-007', member('data.pagination', undefined)],
  ]),
  ...on('videosOfTruck', [['VISION-040', lastElement('truckId', 'OTHER')]]),
  ...on('videosOfCamera', [['VISION-041', lastElement('cameraId', 'rear')]]),
  ...on('videosInRange', [
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
  ...on('continuousOfCamera', [['VISION-142', lastElement('cameraId', 'rear')]]),
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
    ['VISION-162', header('content-length', undefined)],
    ['VISION-163', header('etag', undefined)],
  ]),
  ...on('downloadPart', [['VISION-164', status(200)]]),
  ...on('VISION-190', [['VISION-178', member('error.details', { violations: [] })]]),
  ...on('request', [
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
    ['VISION-307', json((body) => ({ ...body, data: { videos: [], request: { requestId: 'r', status: 'failed' } } }))],
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
  ...on('clipDownload', [['VISION-361', bytes('{}')]]),
];

const SCALE: Mutant[] = [
  ...on('create', [
    ['SCALE-021', plain],
    ['SCALE-022', broken],
    ['SCALE-023', member('success', 1)],
    ['SCALE-024', member('disposalTicketId', 'ticket-1')],
  ]),
  ...on('update', [['SCALE-026', member('disposalTicketId', NEW_ID)]]),
];

const ACCOUNT: Mutant[] = [
  ...on('create', [
    ['ACCOUNT-021', plain],
    ['ACCOUNT-022', broken],
    ['ACCOUNT-023', member('accountId', 7)],
    ['ACCOUNT-024', member('accountNumber', undefined)],
    ['ACCOUNT-025', member('accountName', 'Other')],
  ]),
  ...on('full', [
    ['ACCOUNT-031', broken],
    ...['street', 'unit', 'city', 'state', 'country', 'zip'].map(
      (field, i) => [`ACCOUNT-04${i}`, member(`billingAddress.${field}`, 'x')] as const,
    ),
    ['ACCOUNT-046', member('billingAddress.addressId', undefined)],
    ...['firstName', 'lastName', 'email', 'phone'].map(
      (field, i) => [`ACCOUNT-05${i}`, member(`primaryContact.${field}`, undefined)] as const,
    ),
    ['ACCOUNT-054', member('primaryContact.contactId', 7)],
  ]),
];

const TABLES: Readonly<Record<string, Mutant[]>> = {
  'site-server': [...SITE, ...AGAIN],
  'vision-server': VISION,
  'scale-server': SCALE,
  'account-server': ACCOUNT,
};

export const mutantsOf = (role: ServerRole): Mutant[] => [
  ...ofTable(role),
  ...ofExchanges(role),
  ...(TABLES[role.name] ?? []),
];
