import { constants, deflateRawSync } from 'node:zlib';
import { hash } from 'node:crypto';
import { looseTimeMessage, parseInstant, secondsBetween, strictTime } from '../../contracts/common/instant.js';
import { isDeeper, isJsonObject, type JsonObject, limitDepth, MAX_JSON_DEPTH } from '../../contracts/common/json.js';
import type { Pagination } from '../../contracts/common/pagination.dto.js';
import { type DtoClass, readerOf } from '../../contracts/common/fields/field.js';
import { type AnswerRecord, recordTooLarge } from '../../partner-client/partner-answer.js';
import { redactText } from '../../core/observability/redaction.js';
import { isBlank, storableText } from '../../contracts/common/text.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import {
  MAX_CLIP_GAPS,
  MAX_DURATION_SECONDS,
  type Recording,
  VIDEO_LISTS,
  VIDEO_STATUSES,
  type VideoRequestState,
  type VideoStatus,
} from '../../contracts/vision/vision.api.js';

/** PostgreSQL takes entries of 2,704 bytes into an index; beside the names, ours have ids and times. */
const MAX_INDEXED_BYTES = 2_300;

/**
 * Whether names fit into the keys of recordings. PostgreSQL shortens what repeats itself in long ones; `Z_FIXED` does as much, and less
 * than that of PostgreSQL is asked for.
 */
export function areIndexable(...names: readonly string[]): boolean {
  const text = names.join('');
  // A code unit has at most three bytes.
  if (text.length * 3 <= MAX_INDEXED_BYTES) return true;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_INDEXED_BYTES) return true;
  return deflateRawSync(bytes, { strategy: constants.Z_FIXED }).length <= MAX_INDEXED_BYTES / 2;
}

/** A part of a partner's response that breaks the contract and was skipped. */
export interface Finding {
  /** For example `data.videos[3].startTime`. */
  readonly path: string;
  readonly reason: string;
  /** The element as received. */
  readonly raw?: unknown;
}

export interface ReadRequestState extends VideoRequestState {
  /** The partner sent a status that the contract does not define; `status` is `processing`. */
  readonly isStatusUnknown?: true;
}

/** One page of a partner's list, as far as it could be read, without its elements. */
export interface ListedPage {
  /** The number of elements in the response, including malformed ones. */
  readonly received: number;
  /** A digest of each received element; the same element has the same digest on every page. */
  readonly fingerprints: readonly string[];
  /** Like `fingerprints` but without ids, which some partners generate for each list (decision 48). */
  readonly ranges: readonly string[];
  readonly pagination: Pagination;
  readonly request?: ReadRequestState;
  readonly findings: readonly Finding[];
}

/** For example 204 (decision 38). */
export const EMPTY_PAGE: ListedPage = { received: 0, fingerprints: [], ranges: [], pagination: {}, findings: [] };

/** The client asks for 100. A partner without pagination may send more. */
export const MAX_ELEMENTS = 250_000;

/** More are not recorded of one response. */
export const MAX_FINDINGS = 100;

/** The response is not a list; the message says why. */
export class NotAListError extends Error {}

/** The response has status 200 but reports an error. */
export class RefusedListError extends NotAListError {}

/** Where the elements of a list may be (decision 38). */
export const ELEMENT_LISTS: readonly string[] = ['data', ...VIDEO_LISTS.map((name) => `data.${name}`)];

/** Reads one page leniently (decision 38), element by element: malformed elements are skipped and reported. */
export class ListReader<T extends Recording> {
  private list: string | undefined;
  private readonly fingerprints: string[] = [];
  private readonly ranges: string[] = [];
  private readonly findings: Finding[] = [];

  constructor(
    private readonly type: DtoClass<T>,
    private readonly customerId: string,
  ) {}

  /** Undefined for a malformed element. Of several lists the first one with elements counts. Throws `NotAListError`. */
  read({ list, index, value: received, text }: AnswerRecord): T | undefined {
    this.list ??= list;
    if (list !== this.list) return undefined;
    if (index >= MAX_ELEMENTS) throw new NotAListError(`${list} must have at most ${MAX_ELEMENTS} elements`);
    const path = `${list}[${index}]`;
    if (text === undefined) {
      this.count(path, path);
      this.report({ path, reason: recordTooLarge(path).message });
      return undefined;
    }
    const value = isDeeper(received, MAX_JSON_DEPTH) ? limitDepth(received, MAX_JSON_DEPTH) : received;
    this.count(identityOf(value), isJsonObject(value) ? [...rangeOf(value), value['requestId']] : value);
    const found: Finding[] = [];
    const [item] = readElement(this.type, value, path, this.customerId, found);
    for (const finding of found) this.report(finding);
    return item;
  }

  /** The page, once all elements were read. Throws `NotAListError`. */
  end(body: unknown): ListedPage {
    if (!isJsonObject(body)) throw new NotAListError('the body must be an object');
    if (body['success'] === false) throw new RefusedListError('success must be true in a response with status 200');
    const data = body['data'];
    if (!isJsonObject(data) && !Array.isArray(data)) throw new NotAListError('data must be an object');
    const lists: JsonObject = isJsonObject(data) ? data : {};
    const hasList = VIDEO_LISTS.some((name) => Array.isArray(lists[name]));
    const wrong = hasList ? undefined : VIDEO_LISTS.find((name) => lists[name] != null);
    if (wrong !== undefined) throw new NotAListError(`data.${wrong} must be an array`);
    const request = requestState(lists['request'], this.findings);
    return {
      received: this.fingerprints.length,
      fingerprints: this.fingerprints,
      ranges: this.ranges,
      pagination: paginationOf(lists['pagination'], body['pagination'], data, body),
      ...(request === undefined ? {} : { request }),
      findings: this.findings,
    };
  }

  private count(identity: unknown, range: unknown): void {
    this.fingerprints.push(digestOf(identity));
    this.ranges.push(digestOf(range));
  }

  private report(finding: Finding): void {
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
  }
}

/** Returns an empty array for a malformed element. */
function readElement<T extends Recording>(
  type: DtoClass<T>,
  raw: unknown,
  path: string,
  customerId: string,
  findings: Finding[],
): T[] {
  let violations: Violation[] = [];
  const element = isJsonObject(raw) ? completed(raw, customerId, path, findings) : raw;
  let item = readerOf(type)(element, path, violations);
  const times = violations.length > 0 && isJsonObject(element) ? strictTimes(element, path, findings) : {};
  if (isJsonObject(element) && Object.keys(times).length > 0) {
    item = readerOf(type)({ ...element, ...times }, path, (violations = []));
  }
  if (violations.length === 0 && item.endTime <= item.startTime) {
    violations.push({ path: `${path}.endTime`, rule: 'isRange', message: `${path}.endTime must be after startTime` });
  }
  if (violations.length === 0 && !areIndexable(item.truckId, item.cameraId)) {
    const message = `${path}.truckId and ${path}.cameraId are too long together to be stored`;
    violations.push({ path: `${path}.truckId`, rule: 'isLength', message });
  }
  const [first] = violations;
  if (first !== undefined) {
    findings.push({ path: first.path, reason: summarise(violations), raw });
    return [];
  }
  if (isJsonObject(raw) && !isDuration(raw['durationSeconds'])) {
    item.durationSeconds = Math.min(secondsBetween(item.startTime, item.endTime), MAX_DURATION_SECONDS);
  }
  return [item];
}

/** The times that are not in the form of RFC 3339 and can be read, in that form. */
function strictTimes(element: JsonObject, path: string, findings: Finding[]): JsonObject {
  const times: Record<string, string> = {};
  for (const name of ['startTime', 'endTime']) {
    const value = element[name];
    const strict = typeof value === 'string' ? strictTime(value) : undefined;
    if (strict === undefined) continue;
    times[name] = strict;
    findings.push({
      path: `${path}.${name}`,
      reason: looseTimeMessage(`${path}.${name}`),
      raw: element,
    });
  }
  return times;
}

/** Fields that some partners send as numbers. */
const TEXT_FIELDS = ['id', 'customerId', 'truckId', 'cameraId', 'requestId'];

/** Adds the requested customer, and a duration of 0, which is replaced once the times were read. Removes unusable fields. */
function completed(raw: JsonObject, customerId: string, path: string, findings: Finding[]): JsonObject {
  const element: Record<string, unknown> = { ...raw };
  if (isInexactId(element['requestId']) || isBlankText(element['requestId'])) {
    element['requestId'] = undefined;
    findings.push(inexactId(`${path}.requestId`, raw));
  }
  if (isRounded(element['customerId'])) {
    element['customerId'] = undefined;
    findings.push(inexactId(`${path}.customerId`, raw));
  }
  if (isRounded(element['id']) || isBlankText(element['id'])) {
    // Truck, camera and range also identify a recording (decision 48).
    element['id'] = digestOf(rangeOf(raw));
    findings.push(inexactId(`${path}.id`, raw));
  }
  for (const name of TEXT_FIELDS) {
    const value = element[name];
    // A rounded truck or camera stays a number, which is a violation: it may name another truck.
    if (typeof value === 'number' && !isRounded(value)) element[name] = String(value);
  }
  element['customerId'] ??= customerId;
  if (!areGaps(element['gaps'])) element['gaps'] = undefined;
  if (!isDuration(element['durationSeconds'])) element['durationSeconds'] = 0;
  const strict = typeof element['expiresAt'] === 'string' ? strictTime(element['expiresAt']) : undefined;
  if (strict !== undefined) {
    const reason = looseTimeMessage(`${path}.expiresAt`);
    findings.push({ path: `${path}.expiresAt`, reason, raw });
    element['expiresAt'] = strict;
  }
  const { expiresAt } = element;
  if (expiresAt != null && (typeof expiresAt !== 'string' || parseInstant(expiresAt) === undefined)) {
    element['expiresAt'] = undefined;
    const reason = `${path}.expiresAt must be a date-time; it is treated as absent`;
    findings.push({ path: `${path}.expiresAt`, reason, raw });
  }
  return element;
}

/** A field of ours (`Video.gaps`): a partner may use its name for something else. */
const areGaps = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length <= MAX_CLIP_GAPS &&
  value.every((gap) => isJsonObject(gap) && isTime(gap['startTime']) && isTime(gap['endTime']));

const isTime = (value: unknown): boolean => typeof value === 'string' && parseInstant(value) !== undefined;

const isDuration = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_DURATION_SECONDS;

/** JSON.parse may have rounded such a number, so that several numbers in the text have the same value. */
const isRounded = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;

const isInexactId = (id: unknown): boolean => typeof id === 'number' && !Number.isSafeInteger(id);

/** Elements with the same blank id would be one recording. */
const isBlankText = (value: unknown): boolean => typeof value === 'string' && isBlank(value);

const inexactId = (path: string, raw: unknown): Finding => ({
  path,
  reason: `${path} must be a string that is not blank, or an integer of at most 2^53 - 1; it is treated as absent`,
  raw,
});

const rangeOf = ({ truckId, cameraId, startTime, endTime }: JsonObject): unknown[] => [
  truckId,
  cameraId,
  startTime,
  endTime,
];

/** Without the link, which is signed for each list. */
const identityOf = (element: unknown): unknown =>
  isJsonObject(element) ? [element['id'], ...rangeOf(element)] : element;

/** A digest, because the values of a whole list are in memory at once. */
const digestOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64');

/** Takes each number from the first place that has it. */
function paginationOf(...places: readonly unknown[]): Pagination {
  const pagination: Pagination = {};
  for (const name of ['page', 'pageSize', 'totalItems', 'totalPages'] as const) {
    const value = places.map((place) => (isJsonObject(place) ? place[name] : undefined)).find(isCount);
    if (value !== undefined) pagination[name] = value;
  }
  return pagination;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function requestState(raw: unknown, findings: Finding[]): ReadRequestState | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { requestId, status, message } = raw;
  if (isInexactId(requestId)) findings.push(inexactId('data.request.requestId', raw));
  if (typeof requestId !== 'string' && !Number.isSafeInteger(requestId)) return undefined;
  return {
    requestId: String(requestId),
    status: knownStatus(status, 'data.request.status', findings),
    ...(isStatus(status) ? {} : { isStatusUnknown: true as const }),
    ...(typeof message === 'string' ? { message: limitMessage(message) } : {}),
  };
}

/** A partner's message, in a form that can be stored and shown to an admin. */
export const limitMessage = (message: string): string => redactText(storableText(message)).slice(0, 1_000);

/** An unknown status is treated as `processing`. */
export function knownStatus(status: unknown, path: string, findings: Finding[]): VideoStatus {
  if (isStatus(status)) return status;
  const reason = `${path} must be one of ${VIDEO_STATUSES.join(', ')}; it is treated as processing`;
  findings.push({ path, reason, raw: status });
  return 'processing';
}

const isStatus = (status: unknown): status is VideoStatus => VIDEO_STATUSES.some((name) => name === status);
