import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { isUuid } from '../../contracts/common/text.js';
import { ListedIds } from './site-rules.js';
import { isWithoutParent, Kiosk, Material, missingParent, Site } from '../../contracts/site/site.api.js';
import { ownField } from '../../contracts/common/json.js';
import { valueAt } from '../checks.js';
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
  readonly siteId: string | undefined;
  readonly kioskId: string | undefined;
}

/** Facts about the records of one answer of `GET /sites` (section 2.4a). `add` each record, then `link`. */
export class SiteFacts extends RecordFacts {
  private readonly now = Date.now();
  /** The records of each list by id, with their `siteId`. */
  private readonly siteIdOf: Readonly<Record<string, Map<string, string | undefined>>> = Object.fromEntries(
    Object.keys(SITE_LISTS).map((list) => [list, new Map()]),
  );
  private readonly ids = new ListedIds();
  private readonly links: Link[] = [];

  addRecord(list: string, index: number, value: unknown): void {
    const type = SITE_LISTS[list];
    if (type === undefined) return;
    const path = `${list}[${index}]`;
    this.add(type, list, index, value);
    const [id, siteId, kioskId] = ['id', 'siteId', 'kioskId'].map((name) => idOf(ownField(value, name)));
    const known = this.siteIdOf[list];
    if (id !== undefined && this.ids.repeats(list, id, value)) {
      this.addFault(`${path}.$repeated`, `${path}.id is the id of an earlier element`);
    } else if (id !== undefined) known?.set(id, siteId);
    if (
      list === 'data.materials' &&
      isWithoutParent({ siteId: ownField(value, 'siteId'), kioskId: ownField(value, 'kioskId') })
    ) {
      this.addFault(`${path}.$parent`, missingParent(path).message);
    }
    this.addFutureFault(path, ownField(value, 'updatedAt'));
    if (list === 'data.sites' || (siteId === undefined && kioskId === undefined)) return;
    this.links.push({ path, siteId, kioskId });
  }

  /** Checks the parents. If the answer leaves a list out, the parents of that kind are not checked. */
  link(hasList: (list: string) => boolean): this {
    const [hasSites, hasKiosks] = [hasList('data.sites'), hasList('data.kiosks')];
    const { 'data.sites': sites, 'data.kiosks': kiosks } = this.siteIdOf;
    for (const { path, siteId, kioskId } of this.links) {
      const isKnownSite = siteId !== undefined && sites?.has(siteId) === true;
      if (hasSites && siteId !== undefined && !isKnownSite)
        this.addFault(`${path}.$site`, `${path}.siteId names no site of the answer`);
      if (!hasKiosks || kioskId === undefined) continue;
      if (kiosks?.has(kioskId) !== true)
        this.addFault(`${path}.$kiosk`, `${path}.kioskId names no kiosk of the answer`);
      else if (isKnownSite && kiosks.get(kioskId) !== siteId)
        this.addFault(`${path}.$both`, `${path} names a site, and a kiosk of another site`);
    }
    return this;
  }

  private addFutureFault(path: string, updatedAt: unknown): void {
    const instant = typeof updatedAt === 'string' ? parseInstant(updatedAt) : undefined;
    if (instant !== undefined && epochMillis(instant) > this.now + MAX_SKEW_MS)
      this.addFault(`${path}.$future`, `${path}.updatedAt is ${updatedAt as string}`);
  }
}

const idOf = (value: unknown) => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined);

const known = new WeakMap<KitAnswer, SiteFacts>();

export function siteFacts({ answer, json }: Exchange): SiteFacts {
  const facts = (answer === undefined ? undefined : known.get(answer)) ?? readFacts(json);
  if (answer !== undefined) known.set(answer, facts);
  return facts;
}

/** For an answer whose records were read as a stream; its body contains the other members. */
export function rememberSiteFacts(answer: KitAnswer, facts: SiteFacts): KitAnswer {
  known.set(answer, facts);
  return answer;
}

function readFacts(body: unknown): SiteFacts {
  const facts = new SiteFacts();
  for (const list of Object.keys(SITE_LISTS)) {
    const records = valueAt(body, list);
    if (Array.isArray(records)) records.forEach((record, i) => facts.addRecord(list, i, record));
  }
  return facts.link((list) => Array.isArray(valueAt(body, list)));
}
