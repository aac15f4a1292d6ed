import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { isUuid } from '../../contracts/common/text.js';
import { isWithoutParent, Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { ownField } from '../checks.js';
import type { Exchange, KitAnswer } from '../exchange.js';
import { RecordFacts } from '../facts.js';

export const SITE_LISTS: Readonly<Record<string, DtoClass<object>>> = {
  'data.sites': Site,
  'data.kiosks': Kiosk,
  'data.materials': Material,
};

/** Clocks differ. */
const MAX_SKEW_MS = 300_000;

interface Link {
  readonly path: string;
  readonly siteId?: string;
  readonly kioskId?: string;
}

/** Facts about the records of one answer of `GET /sites` (section 2.4a). `add` each record, then `link`. */
export class SiteFacts extends RecordFacts {
  private readonly now = Date.now();
  private readonly siteIds = new Set<string>();
  /** The site of each kiosk. */
  private readonly kioskSites = new Map<string, string | undefined>();
  private readonly materialIds = new Set<string>();
  private readonly links: Link[] = [];

  addRecord(list: string, index: number, value: unknown): void {
    const type = SITE_LISTS[list];
    if (type === undefined) return;
    const path = `${list}[${index}]`;
    this.add(type, list, index, value);
    const [id, siteId, kioskId] = ['id', 'siteId', 'kioskId'].map((name) => idOf(ownField(value, name)));
    if (id !== undefined) this.remember(list, path, id, siteId);
    if (
      list === 'data.materials' &&
      isWithoutParent({ siteId: ownField(value, 'siteId'), kioskId: ownField(value, 'kioskId') })
    ) {
      this.addFault(`${path}.$parent`, `${path} has neither a siteId nor a kioskId`);
    }
    this.addFutureFault(path, ownField(value, 'updatedAt'));
    if (list === 'data.sites' || (siteId === undefined && kioskId === undefined)) return;
    this.links.push({
      path,
      ...(siteId === undefined ? {} : { siteId }),
      ...(kioskId === undefined ? {} : { kioskId }),
    });
  }

  /** Checks the parents. A parent cannot be looked for where the answer leaves its list out. */
  link(hasList: (list: string) => boolean): this {
    const hasSites = hasList('data.sites');
    const hasKiosks = hasList('data.kiosks');
    for (const { path, siteId, kioskId } of this.links) {
      if (hasSites && siteId !== undefined && !this.siteIds.has(siteId)) {
        this.addFault(`${path}.$site`, `${path}.siteId names no site of the answer`);
      }
      if (!hasKiosks || kioskId === undefined) continue;
      if (!this.kioskSites.has(kioskId))
        this.addFault(`${path}.$kiosk`, `${path}.kioskId names no kiosk of the answer`);
      else if (siteId !== undefined && this.siteIds.has(siteId) && this.kioskSites.get(kioskId) !== siteId) {
        this.addFault(`${path}.$both`, `${path} names a site, and a kiosk of another site`);
      }
    }
    return this;
  }

  private addFutureFault(path: string, updatedAt: unknown): void {
    const instant = typeof updatedAt === 'string' ? parseInstant(updatedAt) : undefined;
    if (instant !== undefined && epochMillis(instant) > this.now + MAX_SKEW_MS)
      this.addFault(`${path}.$future`, `${path}.updatedAt is ${updatedAt as string}`);
  }

  private remember(list: string, path: string, id: string, siteId: string | undefined): void {
    const isKnown =
      list === 'data.sites'
        ? this.siteIds.has(id)
        : list === 'data.kiosks'
          ? this.kioskSites.has(id)
          : this.materialIds.has(id);
    if (isKnown) this.addFault(`${path}.$repeated`, `${path}.id is the id of an earlier element`);
    else if (list === 'data.sites') this.siteIds.add(id);
    else if (list === 'data.kiosks') this.kioskSites.set(id, siteId);
    else this.materialIds.add(id);
  }
}

const idOf = (value: unknown) => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined);

const known = new WeakMap<KitAnswer, SiteFacts>();

export function siteFacts({ answer, json }: Exchange): SiteFacts {
  const facts = (answer === undefined ? undefined : known.get(answer)) ?? readFacts(json);
  if (answer !== undefined) known.set(answer, facts);
  return facts;
}

/** For an answer whose records were read as a stream; its body has the rest. */
export function rememberSiteFacts(answer: KitAnswer, facts: SiteFacts): KitAnswer {
  known.set(answer, facts);
  return answer;
}

function readFacts(body: unknown): SiteFacts {
  const facts = new SiteFacts();
  const listOf = (list: string) => list.split('.').reduce<unknown>(ownField, body);
  for (const list of Object.keys(SITE_LISTS)) {
    const records = listOf(list);
    if (Array.isArray(records)) records.forEach((record, i) => facts.addRecord(list, i, record));
  }
  return facts.link((list) => Array.isArray(listOf(list)));
}
