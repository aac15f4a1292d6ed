import { type DtoClass, readerOf } from '../../contracts/common/fields/field.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { isJsonObject, JsonTextCheck, ownField } from '../../contracts/common/json.js';
import type { Violation } from '../../contracts/common/violation.js';
import { isWithoutParent, Kiosk, Material, Site, type SiteData } from '../../contracts/site/site.api.js';
import { invalid } from '../../core/errors/app-error.js';

type Records = Required<SiteData>;
type Kind = keyof Records;

/** A body can have more faults than an error body can name. */
const MAX_VIOLATIONS = 10_000;
const MORE: Violation = {
  path: '',
  rule: 'maxFaults',
  message: 'the body has more faults, which are not listed: fix the listed ones first',
};

/**
 * The site data of a body. The compiled reader of the fields reads it: 32 MB are some 200,000 records. Throws `invalid` with every
 * fault of text, fields and links at once (section 2.4a, decisions 8, 11 and 32).
 */
export function readSiteData(body: unknown): Records {
  const text = new JsonTextCheck().check(body);
  const violations: Violation[] = [];
  if (!isJsonObject(body)) violations.push({ path: '', rule: 'isObject', message: 'the body must be an object' });
  const data = {
    sites: recordsOf(body, 'sites', Site, violations),
    kiosks: recordsOf(body, 'kiosks', Kiosk, violations),
    materials: recordsOf(body, 'materials', Material, violations),
  };
  const all = text.with([...violations, ...linkViolations(data)]);
  if (all.length > MAX_VIOLATIONS) throw invalid([...all.slice(0, MAX_VIOLATIONS), MORE]);
  if (all.length > 0) throw invalid(all);
  return data;
}

/** Stops once there are too many faults. */
function recordsOf<T extends object>(body: unknown, kind: Kind, type: DtoClass<T>, violations: Violation[]): T[] {
  const given = ownField(body, kind) ?? [];
  if (!Array.isArray(given)) {
    violations.push({ path: kind, rule: 'isArray', message: `${kind} must be an array of elements` });
    return [];
  }
  const read = readerOf(type);
  const records: T[] = [];
  for (const record of given as unknown[]) {
    if (violations.length > MAX_VIOLATIONS) break;
    const path = `${kind}[${records.length}]`;
    records.push(read(record, path, violations));
    if (kind !== 'materials' || !isJsonObject(record) || !isWithoutParent(record)) continue;
    violations.push({ path, rule: 'hasParent', message: `${path} must have a siteId, a kioskId or both` });
  }
  return records;
}

/** Repeated ids, then parents that the body does not have. A record whose id is faulty has none here. */
function linkViolations(data: Records): Violation[] {
  const sites = new Set(data.sites.map(({ id }) => id));
  const kiosks = new Set(data.kiosks.map(({ id }) => id));
  return [
    ...repeated('sites', data.sites),
    ...repeated('kiosks', data.kiosks),
    ...repeated('materials', data.materials),
    ...data.kiosks.flatMap(({ siteId }, i) => unknownParent(`kiosks[${i}].siteId`, siteId, 'sites', sites)),
    ...data.materials.flatMap(({ siteId, kioskId }, i) => [
      ...unknownParent(`materials[${i}].siteId`, siteId, 'sites', sites),
      ...unknownParent(`materials[${i}].kioskId`, kioskId, 'kiosks', kiosks),
    ]),
  ];
}

/** The same material may be listed again under another site or kiosk (decision 33). */
function repeated(kind: Kind, records: readonly Partial<Material>[]): Violation[] {
  const firsts = new Map<string, number>();
  const places = new Set<string>();
  return records.flatMap(({ id, siteId, kioskId, materialType, measureUnit }, i) => {
    if (id === undefined) return [];
    const first = firsts.get(id) ?? i;
    firsts.set(id, first);
    const place = kind === 'materials' ? `${id} ${siteId} ${kioskId}` : id;
    const isAgain = places.has(place);
    places.add(place);
    const isSame = records[first]?.materialType === materialType && records[first]?.measureUnit === measureUnit;
    return isAgain || !isSame ? [repeatedId(kind, i, first)] : [];
  });
}

function repeatedId(kind: Kind, position: number, first: number): Violation {
  const path = `${kind}[${position}].id`;
  return { path, rule: 'isUnique', message: `${path} must not be the id of ${kind}[${first}] again` };
}

function unknownParent(path: string, id: string | undefined, kind: Kind, known: ReadonlySet<string>): Violation[] {
  if (id === undefined || known.has(id)) return [];
  return [{ path, rule: 'isKnown', message: `${path} must be the id of one of the ${kind} in the same body` }];
}

/** What callers receive: the active records, in an order that does not depend on that of the body (decision 37). */
export const listedData = ({ sites, kiosks, materials }: Records): Records => ({
  sites: listed(sites),
  kiosks: listed(kiosks),
  materials: listed(materials),
});

/** The records of `before` that `after` does not list: materials by their places. */
export function removedRecords(before: Records, after: Records): Readonly<Record<Kind, number>> {
  const gone = (kind: Kind, key: (record: ListedRecord) => string): number => {
    const kept = new Set(after[kind].map(key));
    return before[kind].filter((record) => !kept.has(key(record))).length;
  };
  return {
    sites: gone('sites', ({ id }) => id),
    kiosks: gone('kiosks', ({ id }) => id),
    materials: gone('materials', keyOf),
  };
}

interface ListedRecord {
  readonly id: string;
  readonly siteId?: string;
  readonly kioskId?: string;
  readonly active?: boolean;
  readonly updatedAt?: string;
}

/** A material may be listed under several sites and kiosks. */
const keyOf = ({ id, siteId, kioskId }: ListedRecord): string => `${id} ${siteId ?? '~'} ${kioskId ?? '~'}`;

const listed = <T extends ListedRecord>(records: readonly T[]): T[] =>
  records
    .filter(({ active }) => active !== false)
    .map((record) => ({ key: keyOf(record), record }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ record }) =>
      record.updatedAt === undefined ? record : { ...record, updatedAt: formatInstant(record.updatedAt) },
    );
