import { type DtoClass, readerOf } from '../../contracts/common/reader.js';
import type { Violation } from '../../contracts/common/violation.js';
import { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { Breather } from '../../http/breather.js';

/** A hauler's data as an admin gave it. */
export interface GivenSiteData {
  readonly sites: readonly Site[];
  readonly kiosks: readonly Kiosk[];
  readonly materials: readonly Material[];
}

type Plain = Readonly<Record<string, unknown>>;

/** Reads what an admin gave; the violations name every fault (section 2.4a, decisions 11 and 32). */
export async function readSiteData(body: unknown): Promise<{ data: GivenSiteData; violations: readonly Violation[] }> {
  const reading = new Reading();
  const given = reading.object(body);
  const data = {
    sites: await reading.records(given, 'sites', Site),
    kiosks: await reading.records(given, 'kiosks', Kiosk),
    materials: await reading.records(given, 'materials', Material),
  };
  await reading.parents(data, given);
  return { data, violations: reading.violations };
}

class Reading {
  readonly violations: Violation[] = [];
  private readonly breather = new Breather();

  object(body: unknown): Plain {
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Plain;
    this.refuse('', 'isObject', 'the body must be an object');
    return {};
  }

  /** One for each element, faulty ones too, so that places stay true. */
  async records<T extends { id: string }>(given: Plain, kind: keyof GivenSiteData, type: DtoClass<T>): Promise<T[]> {
    const elements = elementsOf(given, kind);
    if (elements === undefined) {
      this.refuse(kind, 'isArray', `${kind} must be an array of elements`);
      return [];
    }
    const read = readerOf(type);
    const firstOf = new Map<string, number>();
    const records: T[] = [];
    for (const [i, element] of elements.entries()) {
      if (this.breather.isDue) await this.breather.rest();
      const path = `${kind}[${i}]`;
      const record = read(element, path, this.violations);
      const first = firstOf.get(record.id);
      if (first !== undefined) {
        this.refuse(`${path}.id`, 'isUnique', `${path}.id must not be the id of ${kind}[${first}] again`);
      } else if (record.id !== undefined) firstOf.set(record.id, i);
      records.push(record);
    }
    return records;
  }

  async parents({ sites, kiosks, materials }: GivenSiteData, given: Plain): Promise<void> {
    const siteIds = new Set(sites.map(({ id }) => id));
    const kioskIds = new Set(kiosks.map(({ id }) => id));
    kiosks.forEach(({ siteId }, i) => this.known(`kiosks[${i}].siteId`, siteId, siteIds, 'site'));
    const elements = elementsOf(given, 'materials') as Plain[];
    for (const [i, { siteId, kioskId }] of materials.entries()) {
      if (this.breather.isDue) await this.breather.rest();
      const path = `materials[${i}]`;
      if (elements[i]?.['siteId'] == null && elements[i]?.['kioskId'] == null) {
        this.refuse(path, 'hasParent', `${path} must have a siteId, a kioskId or both`);
      }
      this.known(`${path}.siteId`, siteId, siteIds, 'site');
      this.known(`${path}.kioskId`, kioskId, kioskIds, 'kiosk');
    }
  }

  private known(path: string, id: string | undefined, ids: ReadonlySet<string>, what: string): void {
    if (id === undefined || ids.has(id)) return;
    this.refuse(path, 'isKnown', `${path} must be the id of a ${what} in the same body`);
  }

  private refuse(path: string, rule: string, message: string): void {
    this.violations.push({ path, rule, message });
  }
}

function elementsOf(given: Plain, kind: keyof GivenSiteData): unknown[] | undefined {
  const elements = (Object.hasOwn(given, kind) ? given[kind] : undefined) ?? [];
  return Array.isArray(elements) ? elements : undefined;
}
