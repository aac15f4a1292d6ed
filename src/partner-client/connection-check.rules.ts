import { ownField } from '../contracts/common/json.js';
import { type DtoClass, readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { GetSitesResponse, isWithoutParent, Kiosk, Material, missingParent, Site } from '../contracts/site/site.dto.js';
import { ListedIds } from '../conformance/site/site-rules.js';
import { VIDEO_LISTS } from '../contracts/vision/vision.api.js';
import { Video } from '../contracts/vision/vision.dto.js';
import { type AnswerRecord, type PartnerAnswer, recordTooLarge, type StreamedAnswer } from './partner-answer.js';
import type { PartnerFailure } from './partner-failure.js';

export interface Findings {
  /** Whether the partner refused our key. A page of a gateway says nothing about it. */
  readonly authorized: boolean;
  /** Null if the answer has no record to check. */
  readonly conforms: boolean | null;
  readonly findings: string[];
  /** The list was a 404 of the contract. A server that lacks the operation may give the same answer. */
  readonly isUnknown?: boolean;
}

/** The check stops after this many violations. */
const MAX_FINDINGS = 20;

const RECORDS: Readonly<Record<string, DtoClass<object>>> = {
  'data.sites': Site,
  'data.kiosks': Kiosk,
  'data.materials': Material,
};

/** Checks every record of `GET /sites` against section 2.4a. */
export async function siteFindings(answer: StreamedAnswer): Promise<Findings> {
  const check = new SiteRecordCheck();
  for await (const records of answer.records(Object.keys(RECORDS))) records.forEach((record) => check.add(record));
  const { envelope } = answer;
  if (ownField(envelope, 'success') === false) return refused(answer, envelope);
  const violations: Violation[] = [];
  readerOf(GetSitesResponse)(envelope, '', violations);
  if (violations.length > 0) return breached([answer.breach(violations).message]);
  if (check.violations.length > 0) return breached(messages(answer.breach(check.violations)));
  const count = (list: string) => check.counts[list] ?? 0;
  const found = `${count('data.sites')} sites, ${count('data.kiosks')} kiosks and ${count('data.materials')} materials`;
  const conforms = count('data.sites') > 0 || null;
  return { authorized: true, conforms, findings: [`The partner has ${found} of this hauler.`] };
}

class SiteRecordCheck {
  readonly violations: Violation[] = [];
  readonly counts: Record<string, number> = {};
  private readonly ids = new ListedIds();

  add({ list, index, value, text }: AnswerRecord): void {
    this.counts[list] = index + 1;
    const type = RECORDS[list];
    if (type === undefined || this.violations.length > MAX_FINDINGS) return;
    const path = `${list}[${index}]`;
    if (text === undefined) {
      this.violations.push(recordTooLarge(path));
      return;
    }
    const before = this.violations.length;
    const record = readerOf(type)(value, path, this.violations);
    if (this.violations.length === before) this.violations.push(...linkViolations(record, path, list, this.ids));
  }
}

/** Faults of a record whose fields are valid: a repeated id, or a material without a parent. */
function linkViolations(record: object, path: string, list: string, ids: ListedIds): Violation[] {
  const { id, ...parents } = record as Partial<Material>;
  if (id !== undefined && ids.repeats(list, id, record))
    return [{ path: `${path}.id`, rule: 'isUnique', message: `${path}.id is the id of an earlier element` }];
  if (list !== 'data.materials' || !isWithoutParent(parents)) return [];
  return [missingParent(path)];
}

/**
 * Checks the first page of `GET /videos` against the contract and decision 38. It reports faults that the client
 * tolerates, such as an id that is a number.
 */
export async function videoFindings(answer: StreamedAnswer): Promise<Findings> {
  const violations: Violation[] = [];
  for await (const records of answer.records(VIDEO_LISTS.map((list) => `data.${list}`))) {
    for (const record of records) if (violations.length <= MAX_FINDINGS) violations.push(...videoViolations(record));
  }
  const body = answer.envelope;
  if (ownField(body, 'success') === false) return refused(answer, body);
  const data = ownField(body, 'data');
  const name = VIDEO_LISTS.find((list) => Array.isArray(ownField(data, list)));
  if (ownField(body, 'success') !== true) return breached(['success must be true in an answer with status 200']);
  if (name === undefined) return breached(['data.videos must be an array']);
  if (violations.length > 0) return breached(messages(answer.breach(violations)));
  const notes = [
    ...(name === 'videos' ? [] : [`The list is called data.${name}; it is read as data.videos.`]),
    ...(ownField(data, 'pagination') === undefined && ownField(body, 'pagination') === undefined
      ? ['There is no pagination; continuous recordings will be read until a page is empty.']
      : []),
  ];
  return { authorized: true, conforms: true, findings: [`The partner lists videos of this customer.`, ...notes] };
}

function videoViolations({ list, index, value, text }: AnswerRecord): Violation[] {
  const path = `${list}[${index}]`;
  if (text === undefined) return [recordTooLarge(path)];
  const found: Violation[] = [];
  readerOf(Video)(value, path, found);
  // An absent duration is computed from start and end.
  const isComputed = ownField(value, 'durationSeconds') == null;
  return found.filter((violation) => !(isComputed && violation.path.endsWith('.durationSeconds')));
}

/** A 404 of the contract means that the partner has no data of this hauler or customer (section 7). The connection works. */
export function noDataFindings(answer: PartnerAnswer): Findings {
  const body = answer.json();
  const error = ownField(body, 'error');
  const [code, message] = [ownField(error, 'code'), ownField(error, 'message')];
  if (ownField(body, 'success') !== false || code !== 'NOT_FOUND' || typeof message !== 'string') {
    return breached(['an answer with status 404 must have the common error body, with error.code NOT_FOUND']);
  }
  return {
    authorized: true,
    conforms: null,
    isUnknown: true,
    findings: ['The partner has no data of this hauler or customer yet (404 NOT_FOUND).'],
  };
}

/** An error body with status 200: its code says whether the key was refused. */
const refused = (answer: PartnerAnswer | StreamedAnswer, body: unknown): Findings => ({
  ...breached(messages(answer.refusal(body))),
  authorized: ownField(ownField(body, 'error'), 'code') !== 'UNAUTHORIZED',
});

const messages = ({ violations }: PartnerFailure): string[] => violations.map(({ message }) => message);

function breached(faults: readonly string[]): Findings {
  const more = faults.length - MAX_FINDINGS;
  const findings = faults.slice(0, MAX_FINDINGS);
  return {
    authorized: true,
    conforms: false,
    findings: more > 0 ? [...findings, `And ${more} or more of the same kind.`] : findings,
  };
}
