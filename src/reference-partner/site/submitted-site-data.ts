import { Breather } from '../../chunked-work/breather.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { readerOf } from '../../contracts/common/reader.js';
import type { Violation } from '../../contracts/common/violation.js';
import { isWithoutParent } from '../../contracts/site/material-parents.js';
import { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { readLists, type SubmittedLists } from './submitted-lists.js';

/** A hauler's data as an admin submitted it. */
export interface SubmittedSiteData {
  readonly sites: Site[];
  readonly kiosks: Kiosk[];
  readonly materials: Material[];
}

const KINDS = ['sites', 'kiosks', 'materials'] as const;
type Kind = (typeof KINDS)[number];

const READERS = { sites: readerOf(Site), kiosks: readerOf(Kiosk), materials: readerOf(Material) };

/** Reads a JSON body in small steps; the violations name every fault (section 2.4a, decisions 8, 11 and 32). */
export async function readSiteData(
  body: Buffer,
): Promise<{ data: SubmittedSiteData; violations: readonly Violation[] }> {
  const breather = new Breather();
  const lists = await readLists(body, KINDS);
  const reading = new Reading();
  await reading.elements(lists, breather);
  await reading.parents(breather);
  return {
    data: reading.data,
    violations: lists.textCheck.with([...lists.violations, ...reading.violations]),
  };
}

class Reading {
  readonly data: SubmittedSiteData = { sites: [], kiosks: [], materials: [] };
  readonly violations: Violation[] = [];
  private readonly firstOf: Readonly<Record<Kind, Map<string, number>>> = {
    sites: new Map(),
    kiosks: new Map(),
    materials: new Map(),
  };

  async elements(lists: SubmittedLists<Kind>, breather: Breather): Promise<void> {
    for (const { list, first, elements } of lists.batches()) {
      for (const [i, element] of elements.entries()) {
        if (breather.isDue) await breather.rest();
        this.element(list, first + i, element);
      }
    }
  }

  async parents(breather: Breather): Promise<void> {
    const { kiosks, materials } = this.data;
    for (const [i, { siteId }] of kiosks.entries()) {
      if (breather.isDue) await breather.rest();
      this.known(`kiosks[${i}].siteId`, siteId, 'sites');
    }
    for (const [i, { siteId, kioskId }] of materials.entries()) {
      if (breather.isDue) await breather.rest();
      this.known(`materials[${i}].siteId`, siteId, 'sites');
      this.known(`materials[${i}].kioskId`, kioskId, 'kiosks');
    }
  }

  /** A faulty record is kept too, so that the indexes of those behind it are those of the body. */
  private element(kind: Kind, place: number, element: unknown): void {
    const path = `${kind}[${place}]`;
    const record = READERS[kind](element, path, this.violations);
    const first = this.firstOf[kind].get(record.id);
    if (first !== undefined) {
      this.refuse(`${path}.id`, 'isUnique', `${path}.id must not be the id of ${kind}[${first}] again`);
    } else if (record.id !== undefined) this.firstOf[kind].set(record.id, place);
    if (kind === 'materials' && isJsonObject(element) && isWithoutParent(element)) {
      this.refuse(path, 'hasParent', `${path} must have a siteId, a kioskId or both`);
    }
    (this.data[kind] as object[]).push(record);
  }

  private known(path: string, id: string | undefined, kind: 'sites' | 'kiosks'): void {
    if (id === undefined || this.firstOf[kind].has(id)) return;
    this.refuse(path, 'isKnown', `${path} must be the id of one of the ${kind} in the same body`);
  }

  private refuse(path: string, rule: string, message: string): void {
    this.violations.push({ path, rule, message });
  }
}
