import type { Breather } from '../../chunked-work/breather.js';
import { tooLarge } from '../../chunked-work/record-cutter.js';
import { type Instant, instantOf } from '../../contracts/common/instant.js';
import { type Read, readerOf } from '../../contracts/common/reader.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { AcceptedRecords } from './accepted-records.js';
import type { PartnerRecord } from './content.js';
import { forEachKind, type Kind } from './kinds.js';
import type { KnownParents } from './known-parents.js';
import { brokenLink, doubtfulLink } from './links.js';
import { Remarks } from './remarks.js';

/** How far ahead of our clock an `updatedAt` may lie: a clock in another time zone is forgiven, a wrong year is not. */
const FUTURE_TOLERANCE_MS = 24 * 3_600_000;

const READERS: { readonly [K in Kind]: Read<PartnerRecord<K>> } = {
  sites: readerOf(Site),
  kiosks: readerOf(Kiosk),
  materials: readerOf(Material),
};

/** One element of an answer, in its place. */
interface Element<K extends Kind = Kind> {
  readonly kind: K;
  readonly path: string;
  readonly record: PartnerRecord<K>;
  readonly value: unknown;
}

/**
 * Takes an answer's records one by one and sorts them into what will be stored and what is set aside, with the reason
 * (decisions 32 and 33). It knows what is stored only as far as parents go; what has changed is for the database to say.
 */
export class Intake {
  readonly records = forEachKind((kind) => new AcceptedRecords(kind));
  readonly remarks = new Remarks();
  readonly received = forEachKind(() => 0);
  /** Kinds with a record whose id cannot be read: nothing of these may be removed (decision 33). */
  readonly unreadable = new Set<Kind>();
  /** Whether the same answer may be judged otherwise when more time has passed. */
  dependsOnTime = false;
  private readonly seen = forEachKind(() => new Set<string>());
  private readonly waiting: Element[] = [];
  private readonly latest: Instant;

  constructor(
    /** Kinds whose array the answer has: an omitted one states nothing (decision 35). */
    readonly stated: readonly Kind[],
    private readonly parents: KnownParents,
    now: Date,
  ) {
    this.latest = instantOf(new Date(now.getTime() + FUTURE_TOLERANCE_MS));
  }

  take<K extends Kind>(kind: K, index: number, value: unknown): void {
    this.received[kind]++;
    const path = `${kind}[${index}]`;
    const violations: Violation[] = [];
    const record = READERS[kind](value, path, violations);
    const element: Element<K> = { kind, path, record, value };
    if (record.id === undefined) this.unreadable.add(kind);
    else if (this.seen[kind].has(record.id)) {
      this.remarks.add('quarantined', kind, `${path}.id`, `${path}.id is the id of an earlier element`, value);
      return;
    } else this.seen[kind].add(record.id);
    const faults = violations.length > 0 ? violations : this.futureFaults(element);
    if (faults[0] !== undefined) this.quarantine(element, faults[0].path, summarise(faults));
    else if (this.mustWait(element)) this.waiting.push(element);
    else this.settle(element);
  }

  /** An element that is too large to be read, with whatever id. */
  passOver(kind: Kind, index: number): void {
    this.received[kind]++;
    this.unreadable.add(kind);
    const { path, message } = tooLarge(`${kind}[${index}]`);
    this.remarks.add('quarantined', kind, path, message, null);
  }

  /** Decides on what waited for its parents, which may stand behind it in the answer. */
  async finish(breather: Breather): Promise<void> {
    for (const kind of ['kiosks', 'materials'] as const) {
      for (const element of this.waiting) {
        if (breather.isDue) await breather.rest();
        if (element.kind === kind) this.settle(element);
      }
    }
    this.waiting.length = 0;
  }

  private mustWait({ kind, record }: Element): boolean {
    if (kind === 'sites') return false;
    const { siteId, kioskId } = record as Kiosk & Material;
    if (siteId !== undefined && kioskId !== undefined && !this.parents.isKioskOfAnswer(kioskId)) return true;
    return brokenLink(kind, record, this.parents) !== undefined && (siteId !== undefined || kioskId !== undefined);
  }

  private settle(element: Element): void {
    const { kind, path, record } = element;
    const broken = brokenLink(kind, record, this.parents);
    if (broken !== undefined) {
      const place = broken.field === '' ? path : `${path}.${broken.field}`;
      this.quarantine(element, place, `${place} ${broken.reason}`);
      return;
    }
    if (kind === 'sites') this.parents.addSite(record.id);
    if (kind === 'kiosks') this.parents.addKiosk(record as Kiosk);
    const doubt = kind === 'materials' ? doubtfulLink(record as Material, this.parents) : undefined;
    if (doubt !== undefined) this.remarks.add('flagged', kind, `${path}.kioskId`, doubt, element.value);
    this.records[kind].accept(record, doubt);
  }

  private quarantine({ kind, record, value }: Element, path: string, reason: string): void {
    this.remarks.add('quarantined', kind, path, reason, value);
    if (record.id !== undefined) this.records[kind].keep(record.id);
  }

  private futureFaults({ path, record: { updatedAt } }: Element): Violation[] {
    if (updatedAt === undefined || updatedAt <= this.latest) return [];
    this.dependsOnTime = true;
    return [{ path: `${path}.updatedAt`, rule: 'isPast', message: `${path}.updatedAt lies in the future` }];
  }
}
