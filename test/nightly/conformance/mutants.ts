/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-call
   -- a mutant breaks the types of the contract on purpose */
import type { ServerRole } from '../../../src/conformance/rule.js';
import {
  type Body,
  broken,
  type Change,
  json,
  member,
  type Mutant,
  on,
  plain,
  renamed,
  set,
  status,
} from './mutant.js';
import { VISION } from './vision-mutants.js';

/** Error bodies that are not the common one. */
const BODY_FAULTS: readonly Change[] = [
  member('success', true),
  member('error.message', undefined),
  member('error.code', 'OOPS'),
  member('error', 'no'),
  plain,
];
const accepted: Change = (answer) => ({ ...answer, status: 200, body: Buffer.from('{"success":true}') });

/** Each refused request: a server that accepts it, and servers that refuse it with another body. */
const ofTable = ({ refused }: ServerRole): Mutant[] =>
  refused.flatMap(({ requests }) =>
    requests.flatMap(({ ids: [id, bodyId] }) => [
      { rule: id, on: id, change: accepted },
      ...BODY_FAULTS.map((change) => ({ rule: bodyId, on: id, change })),
    ]),
  );

/** The first rule of each other exchange. */
function ofExchanges({ rules, refused }: ServerRole): Mutant[] {
  const seen = new Set(refused.flatMap(({ requests }) => requests.map(({ ids: [id] }) => id)));
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

/** A server that lists such a record lists it each time. */
const SITE: Mutant[] = on(/^(list|again)$/, [
  ['SITE-002', plain],
  ['SITE-003', broken],
  ['SITE-009', (answer) => ({ ...answer, body: Buffer.alloc(0), exceeds: 268_435_456 })],
  ['SITE-009', added('sites', 'note', 'x'.repeat(1_100_000))],
  ['SITE-004', member('success', 'yes')],
  ['SITE-005', member('data', [])],
  ['SITE-006', member('data.sites', {})],
  ['SITE-006', renamed('data.sites', 'Sites')],
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
  ['SITE-019', renamed('data.sites.0.updatedAt', 'updated_at')],
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
  ['SITE-071', json((body) => void (body.data.kiosks[0].id = NEW_ID))],
  ['SITE-072', json((body) => void (body.data.kiosks[0].updatedAt = '2026-02-01T00:00:00Z'))],
]);
const otherId = (i: number) => `3f2b8c1e-5d4a-4f6b-9c7d-${String(i).padStart(12, '0')}`;

const TABLES: Readonly<Record<string, Mutant[]>> = {
  'site-server': [...SITE, ...AGAIN],
  'vision-server': VISION,
};

export const mutantsOf = (role: ServerRole): Mutant[] => [
  ...ofTable(role),
  ...ofExchanges(role),
  ...(TABLES[role.name] ?? []),
];
