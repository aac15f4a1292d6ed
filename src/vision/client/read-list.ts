import { isJsonObject } from '../../contracts/common/json.js';
import type { Pagination } from '../../contracts/common/pagination.dto.js';
import type { DtoClass } from '../../contracts/common/reader.js';
import { storableText } from '../../contracts/common/text.js';
import { VIDEO_LISTS } from '../../contracts/vision/vision.api.js';
import {
  type Recording,
  VIDEO_STATUSES,
  type VideoRequestState,
  type VideoStatus,
} from '../../contracts/vision/vision.dto.js';
import type { Finding } from './finding.js';
import { digestOf, inexact, isInexact, rangeOf, readElements } from './read-elements.js';

export interface ReadRequestState extends VideoRequestState {
  /** What the partner says of it nobody knows, and `status` is our guess. */
  readonly guessed?: true;
}

/** One page of a partner's list, as far as it could be read. */
export interface ListedPage<T> {
  readonly items: T[];
  /** Elements in the answer, malformed ones too. */
  readonly received: number;
  /** One for each element received, 44 characters, the same for the same element on another page. */
  readonly fingerprints: readonly string[];
  /** As `fingerprints`, without the ids: some partners make them anew at each listing (decision 48). */
  readonly ranges: readonly string[];
  readonly pagination: Pagination;
  readonly request?: ReadRequestState;
  readonly findings: readonly Finding[];
}

/**
 * Elements of one page: 100 are asked for. A partner that knows no pages may send all that it has, but no more of them
 * than this have room in the longest answer that is taken.
 */
const MOST_ON_A_PAGE = 30_000;

/** The answer is no list at all; `message` says why. */
export class NoList extends Error {}

/** It is an error, which the partner sent with status 200. */
export class RefusedList extends NoList {}

/** Reads a page leniently (decision 38). Throws `NoList`. */
export function readList<T extends Recording>(type: DtoClass<T>, body: unknown, customerId: string): ListedPage<T> {
  if (!isJsonObject(body)) throw new NoList('the body must be an object');
  if (body['success'] === false) throw new RefusedList('success must be true in an answer of 200');
  const data = body['data'];
  if (!isJsonObject(data) && !Array.isArray(data)) throw new NoList('data must be an object');
  const { elements, path } = elementsOf(data);
  if (elements.length > MOST_ON_A_PAGE) throw new NoList(`${path} must not have more than ${MOST_ON_A_PAGE} elements`);
  const { items, findings } = readElements(type, elements, path, customerId);
  const request = isJsonObject(data) ? requestState(data['request'], findings) : undefined;
  return {
    items,
    received: elements.length,
    fingerprints: elements.map((element) => digestOf(identityOf(element))),
    ranges: elements.map((element) => digestOf(isJsonObject(element) ? rangeOf(element) : element)),
    pagination: paginationOf(isJsonObject(data) ? data['pagination'] : undefined, body['pagination'], data, body),
    ...(request === undefined ? {} : { request }),
    findings,
  };
}

function elementsOf(data: unknown): { elements: readonly unknown[]; path: string } {
  if (Array.isArray(data)) return { elements: data, path: 'data' };
  const lists = data as Readonly<Record<string, unknown>>;
  const name = VIDEO_LISTS.find((list) => Array.isArray(lists[list]));
  if (name !== undefined) return { elements: lists[name] as unknown[], path: `data.${name}` };
  const wrong = VIDEO_LISTS.find((list) => lists[list] != null);
  if (wrong !== undefined) throw new NoList(`data.${wrong} must be an array`);
  return { elements: [], path: 'data' };
}

/** Links are signed anew for each listing. */
function identityOf(element: unknown): unknown {
  return isJsonObject(element) ? [element['id'], ...rangeOf(element)] : element;
}

/** Wherever the partner has put it: the first place that holds a number of that name. */
function paginationOf(...places: readonly unknown[]): Pagination {
  const pagination: Pagination = {};
  for (const name of ['page', 'pageSize', 'totalItems', 'totalPages'] as const) {
    const value = places.map((place) => (isJsonObject(place) ? place[name] : undefined)).find(isCount);
    if (value !== undefined) pagination[name] = value;
  }
  return pagination;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** A status that nobody knows says nothing: the request counts as processing. */
function requestState(raw: unknown, findings: Finding[]): ReadRequestState | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { requestId, status, message } = raw;
  if (isInexact(requestId)) findings.push(inexact('data.request.requestId', raw));
  if (typeof requestId !== 'string' && !Number.isSafeInteger(requestId)) return undefined;
  return {
    requestId: String(requestId),
    status: knownStatus(status, 'data.request.status', findings),
    ...(isStatus(status) ? {} : { guessed: true as const }),
    ...(typeof message === 'string' ? { message: shownMessage(message) } : {}),
  };
}

/** A partner's sentence, as it is shown to an admin. */
export const shownMessage = (message: string): string => storableText(message).slice(0, 1_000);

export function knownStatus(status: unknown, path: string, findings: Finding[]): VideoStatus {
  if (isStatus(status)) return status;
  const reason = `${path} must be one of ${VIDEO_STATUSES.join(', ')}; it is taken as processing`;
  findings.push({ path, reason, raw: status });
  return 'processing';
}

const isStatus = (status: unknown): status is VideoStatus => VIDEO_STATUSES.some((name) => name === status);
