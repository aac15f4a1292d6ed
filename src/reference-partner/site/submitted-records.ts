import type { RuleName } from '../../contracts/common/rules.js';
import { InvalidJsonError, isJsonObject, JsonTextCheck, parseJson } from '../../contracts/common/json.js';
import { readerOf } from '../../contracts/common/fields/field.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { isWithoutParent, Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { invalid } from '../../errors/app-error.js';
import { type JsonRecord, JsonStreamError, NOT_UTF8 } from '../../json/json-record-stream.js';

/** In the order of a response. */
export const KINDS = ['sites', 'kiosks', 'materials'] as const;
export type Kind = (typeof KINDS)[number];

/** A record as it is staged in the database. */
export interface SubmittedRecord {
  readonly kind: Kind;
  readonly position: number;
  readonly id: string | undefined;
  readonly siteId: string | undefined;
  readonly kioskId: string | undefined;
  /** Type and unit of a material, which all elements with its id have. */
  readonly content: string | undefined;
  /** The element of the response; undefined if the record is inactive (decision 37) or any record is faulty. */
  readonly text: string | undefined;
}

const READERS = { sites: readerOf(Site), kiosks: readerOf(Kiosk), materials: readerOf(Material) };

/** A body can have more faulty records than an error body can name. */
const MAX_VIOLATIONS = 10_000;
const MORE: Violation = {
  path: '',
  rule: 'maxFaults',
  message: 'the body has more faults, which are not listed: fix the listed ones first',
};

/** Validates the records of a body one by one, and collects every fault (section 2.4a, decisions 8, 11 and 32). */
export class SubmittedRecords {
  readonly counts = { sites: 0, kiosks: 0, materials: 0 };
  private readonly envelopeText = new JsonTextCheck();
  private readonly recordText = new JsonTextCheck();
  private readonly envelopeViolations: Violation[] = [];
  private readonly recordViolations: Violation[] = [];

  /** Throws `invalid` once there are too many faults. */
  read({ list, index, text }: JsonRecord): SubmittedRecord {
    const kind = list as Kind;
    const path = `${kind}[${index}]`;
    this.counts[kind]++;
    if (this.recordViolations.length >= MAX_VIOLATIONS) throw invalid([...this.violations(), MORE]);
    const place = { kind, position: index };
    if (text === undefined) {
      this.refuse(path, 'maxSize', `${path} must not be larger than 1 MiB`);
      return { ...place, id: undefined, siteId: undefined, kioskId: undefined, content: undefined, text: undefined };
    }
    const value = parseJson(text);
    this.recordText.check(value, [kind, index], 3);
    const record: Site | Kiosk | Material = READERS[kind](value, path, this.recordViolations);
    if (kind === 'materials' && isJsonObject(value) && isWithoutParent(value)) {
      this.refuse(path, 'hasParent', `${path} must have a siteId, a kioskId or both`);
    }
    const { siteId, kioskId, materialType, measureUnit } = record as Partial<Material>;
    const content = kind === 'materials' ? JSON.stringify([materialType, measureUnit]) : undefined;
    const isListed = record.active !== false && !this.hasFaults();
    return { ...place, id: record.id, siteId, kioskId, content, text: isListed ? elementOf(record) : undefined };
  }

  addEnvelope(text: string): void {
    const envelope = parseJson(text);
    this.envelopeText.check(envelope);
    if (!isJsonObject(envelope)) {
      this.envelopeViolations.push({ path: '', rule: 'isObject', message: 'the body must be an object' });
      return;
    }
    for (const kind of KINDS) {
      const list = Object.hasOwn(envelope, kind) ? envelope[kind] : null;
      if (list === null || Array.isArray(list)) continue;
      this.envelopeViolations.push({ path: kind, rule: 'isArray', message: `${kind} must be an array of elements` });
    }
  }

  addRepeated(kind: Kind, position: number, first: number): void {
    const path = `${kind}[${position}].id`;
    this.refuse(path, 'isUnique', `${path} must not be the id of ${kind}[${first}] again`);
  }

  addUnknownParent(kind: Kind, position: number, parent: 'sites' | 'kiosks'): void {
    const path = `${kind}[${position}].${parent === 'sites' ? 'siteId' : 'kioskId'}`;
    this.refuse(path, 'isKnown', `${path} must be the id of one of the ${parent} in the same body`);
  }

  /** Throws `invalid` with every fault; those of the envelope come first. */
  assertValid(): void {
    const violations = this.violations();
    if (violations.length === 0) return;
    throw invalid(violations.length > MAX_VIOLATIONS ? [...violations.slice(0, MAX_VIOLATIONS), MORE] : violations);
  }

  private violations(): Violation[] {
    return this.envelopeText.with(this.recordText.with([...this.envelopeViolations, ...this.recordViolations]));
  }

  private hasFaults(): boolean {
    return this.recordViolations.length > 0 || this.recordText.violations.length > 0;
  }

  private refuse(path: string, rule: RuleName, message: string): void {
    this.recordViolations.push({ path, rule, message });
  }
}

function elementOf(record: Site | Kiosk | Material): string {
  const { updatedAt } = record;
  return JSON.stringify(updatedAt === undefined ? record : { ...record, updatedAt: formatInstant(updatedAt) });
}

/** A failure to read the body as an error of the API. */
export function invalidBody(error: unknown): unknown {
  if (!(error instanceof JsonStreamError)) {
    return error instanceof InvalidJsonError ? invalid([NOT_JSON]) : error;
  }
  const { kind, path, message } = error;
  if (message === NOT_UTF8) return invalid([{ path, rule: 'isUtf8', message: 'the body must be UTF-8' }]);
  if (kind === 'notJson') return invalid([NOT_JSON]);
  return invalid([{ path, rule: 'isReadable', message: `${path === '' ? 'the body' : path} ${message}` }]);
}

const NOT_JSON: Violation = { path: '', rule: 'isJson', message: 'the body must be valid JSON' };
