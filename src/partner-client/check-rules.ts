import { Breather } from '../chunked-work/breather.js';
import { tooLarge } from '../chunked-work/record-cutter.js';
import { type DtoClass, readerOf } from '../contracts/common/reader.js';
import type { Violation } from '../contracts/common/violation.js';
import { isWithoutParent } from '../contracts/site/material-parents.js';
import { GetSitesResponse, Kiosk, Material, Site } from '../contracts/site/site.dto.js';
import { VIDEO_LISTS } from '../contracts/vision/vision.api.js';
import { Video } from '../contracts/vision/vision.dto.js';
import { ownField } from './own-field.js';
import type { PartnerAnswer } from './partner-answer.js';
import type { PartnerFailure } from './partner-failure.js';

export interface Findings {
  /** Whether it is the contract's answer, be it a faulty one: anybody else's says nothing of our key. */
  readonly authorized: boolean;
  readonly conforms: boolean;
  readonly findings: string[];
}

/** More of the same would not help to mend it: nothing is looked at behind them. */
const MOST_FINDINGS = 20;

const RECORDS: Readonly<Record<string, DtoClass<object>>> = {
  'data.sites': Site,
  'data.kiosks': Kiosk,
  'data.materials': Material,
};

/** Every record of `GET /sites` against section 2.4a. */
export async function siteFindings(answer: PartnerAnswer): Promise<Findings> {
  const records = await answer.records(Object.keys(RECORDS));
  const { envelope } = records;
  if (ownField(envelope, 'success') === false) return refused(answer, envelope);
  const ours = saysSuccess(envelope) || Object.keys(RECORDS).some((list) => hasList(envelope, list));
  const violations: Violation[] = [];
  readerOf(GetSitesResponse)(envelope, '', violations);
  if (violations.length > 0) return breached(ours, [answer.breach(violations).message]);
  const counts: Record<string, number> = {};
  const ids = new Set<string>();
  for await (const batch of records.batches()) {
    const type = RECORDS[batch.list];
    if (type === undefined) continue;
    const read = readerOf(type);
    for (const [i, record] of batch.records.entries()) {
      if (violations.length > MOST_FINDINGS) break;
      const path = `${batch.list}[${batch.first + i}]`;
      if (batch.oversized) {
        violations.push(tooLarge(path));
        continue;
      }
      const before = violations.length;
      const known = read(record, path, violations);
      if (violations.length === before) violations.push(...linkViolations(known, path, batch.list, ids));
    }
    counts[batch.list] = batch.first + batch.records.length;
  }
  if (violations.length > 0) return breached(ours, told(answer.breach(violations)));
  const count = (list: string) => counts[list] ?? 0;
  const found = `${count('data.sites')} sites, ${count('data.kiosks')} kiosks and ${count('data.materials')} materials`;
  return { authorized: true, conforms: true, findings: [`The partner has ${found} of this hauler.`] };
}

/** What a run would set aside though each field is right: a record that stands there twice, a material of no place. */
function linkViolations(record: object, path: string, list: string, ids: Set<string>): Violation[] {
  const { id, ...parents } = record as Partial<Material>;
  const key = `${list} ${id}`;
  if (ids.has(key))
    return [{ path: `${path}.id`, rule: 'isUnique', message: `${path}.id is the id of an earlier element` }];
  ids.add(key);
  if (list !== 'data.materials' || !isWithoutParent(parents)) return [];
  return [{ path, rule: 'hasParent', message: `${path} has neither a siteId nor a kioskId` }];
}

/**
 * The first page of `GET /videos` against the contract, but for what decision 38 says a client takes. Reading forgives
 * more, such as an id that is a number; an admin is told of that here.
 */
export async function videoFindings(answer: PartnerAnswer): Promise<Findings> {
  const body = answer.json();
  if (ownField(body, 'success') === false) return refused(answer, body);
  const data = ownField(body, 'data');
  const name = VIDEO_LISTS.find((list) => Array.isArray(ownField(data, list)));
  // A list alone is taken as the contract's where it is read later.
  const ours = saysSuccess(body) || name !== undefined;
  if (ownField(body, 'success') !== true) return breached(ours, ['success must be true in an answer with status 200']);
  if (name === undefined) return breached(ours, ['data.videos must be an array']);
  const violations: Violation[] = [];
  const breather = new Breather();
  for (const [i, video] of (ownField(data, name) as unknown[]).entries()) {
    if (violations.length > MOST_FINDINGS) break;
    if (breather.isDue) await breather.rest();
    const found: Violation[] = [];
    readerOf(Video)(video, `data.${name}[${i}]`, found);
    // It follows from start and end.
    const computed = ownField(video, 'durationSeconds') == null;
    violations.push(...found.filter(({ path }) => !(computed && path.endsWith('.durationSeconds'))));
  }
  if (violations.length > 0) return breached(ours, told(answer.breach(violations)));
  const notes = [
    ...(name === 'videos' ? [] : [`The list is called data.${name}; it is read as data.videos.`]),
    ...(ownField(data, 'pagination') === undefined && ownField(body, 'pagination') === undefined
      ? ['There is no pagination; continuous recordings will be read until a page is empty.']
      : []),
  ];
  return { authorized: true, conforms: true, findings: [`The partner lists videos of this customer.`, ...notes] };
}

/** 404 says that the partner has nothing of this hauler or customer: the connection works (section 7). */
export async function noDataFindings(answer: PartnerAnswer): Promise<Findings> {
  const body = answer.json();
  const error = ownField(body, 'error');
  const [code, message] = [ownField(error, 'code'), ownField(error, 'message')];
  if (ownField(body, 'success') !== false || code !== 'NOT_FOUND' || typeof message !== 'string') {
    return breached(saysSuccess(body), [
      'an answer with status 404 must have the common error body, with error.code NOT_FOUND',
    ]);
  }
  return {
    authorized: true,
    conforms: true,
    findings: ['The partner has no data of this hauler or customer yet (404 NOT_FOUND).'],
  };
}

/** An error in an answer of 200: one that says so of the key is believed. */
const refused = (answer: PartnerAnswer, body: unknown): Findings =>
  breached(ownField(ownField(body, 'error'), 'code') !== 'UNAUTHORIZED', told(answer.refusal(body)));

const told = ({ violations }: PartnerFailure): string[] => violations.map(({ message }) => message);

/** A list of the contract's own name shows it too, where `success` was forgotten. */
const hasList = (body: unknown, path: string): boolean =>
  Array.isArray(path.split('.').reduce<unknown>((value, name) => ownField(value, name), body));

/** As every answer of the contracts does, and hardly one of a gateway or of another service. */
const saysSuccess = (body: unknown): boolean => typeof ownField(body, 'success') === 'boolean';

function breached(authorized: boolean, messages: readonly string[]): Findings {
  const more = messages.length - MOST_FINDINGS;
  const findings = messages.slice(0, MOST_FINDINGS);
  return {
    authorized,
    conforms: false,
    findings: more > 0 ? [...findings, `And ${more} or more of the same kind.`] : findings,
  };
}
