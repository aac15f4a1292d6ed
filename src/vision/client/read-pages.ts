import type { Pagination } from '../../contracts/common/pagination.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from './read-list.rules.js';

const MAX_PAGES = 2_000;
/** More elements than `MAX_PAGES` full pages of the requested size have. */
const MAX_ELEMENTS = 250_000;
/**
 * Consecutive pages with the same ranges under new ids: the partner ignores `page` and generates ids for each list. Several
 * streams of a camera, listed one after another, repeat ranges as well, but not those of the previous page.
 */
const MAX_REPEATED_PAGES = 10;
const MAX_READINGS = 5;

/** The list changed during every reading, lacks a page, or has no end. The message is a sentence for an admin. */
export class UnstableListError extends Error {
  readonly expected = true;
}

interface Reading {
  /** Used to compare two readings, because ids may differ between them. */
  readonly ranges: ReadonlySet<string>;
  readonly total: number | undefined;
  /** All pages report the same total and contain as many elements, or the list is a single page without a total. */
  readonly isConsistent: boolean;
}

/**
 * Reads every page of a list. Elements may be added or removed meanwhile and shift the others between pages, and totals may
 * be wrong, so it repeats the reading until one is consistent with its own totals or two in a row are the same. `onPage`
 * receives every page of every reading. No further page is read once `isEnough` returns true. Throws `UnstableListError`,
 * and the errors of `fetchPage`.
 */
export async function readAllPages<T>(
  fetchPage: (page: number) => Promise<ListedPage<T>>,
  onPage: (page: ListedPage<T>) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<void> {
  let last: Reading | undefined;
  for (let i = 0; i < MAX_READINGS; i++) {
    const reading = await readOnce(fetchPage, onPage, isEnough);
    if (reading.isConsistent || (last !== undefined && isSame(reading, last))) return;
    last = reading;
  }
  throw new UnstableListError(`The partner's list differed in each of ${MAX_READINGS} readings.`);
}

async function readOnce<T>(
  fetchPage: (page: number) => Promise<ListedPage<T>>,
  onPage: (page: ListedPage<T>) => Promise<void>,
  isEnough: () => boolean,
): Promise<Reading> {
  const fingerprints = new Set<string>();
  const ranges = new Set<string>();
  const totals = new Set<number | undefined>();
  let pages: number | undefined;
  let previous = '';
  let repeats = 0;
  for (let number = 1; number <= MAX_PAGES; number++) {
    const { page, isEnd } = await readPageOrEnd(fetchPage, number);
    if (isEnd && pages !== undefined && number <= pages) {
      throw new UnstableListError(`The partner's list has ${pages} pages, but page ${number} of it was refused.`);
    }
    await onPage(page);
    if (isEnough()) return { ranges, total: undefined, isConsistent: true };
    pages = totalPages(page.pagination);
    totals.add(page.pagination.totalItems);
    const before = fingerprints.size;
    for (const fingerprint of page.fingerprints) fingerprints.add(fingerprint);
    for (const range of page.ranges) ranges.add(range);
    if (fingerprints.size > MAX_ELEMENTS) {
      throw new UnstableListError(`The partner's list has more than ${MAX_ELEMENTS} elements.`);
    }
    const current = page.ranges.toSorted().join();
    repeats = current !== '' && current === previous ? repeats + 1 : 0;
    previous = current;
    // A partner that ignores `page` returns the same page each time.
    const hasNothingNew = fingerprints.size === before || repeats === MAX_REPEATED_PAGES;
    if (hasNothingNew || isLastPage(page, number)) {
      const [total] = totals;
      const agrees = total === undefined ? number === 1 : totals.size === 1 && fingerprints.size >= total;
      const isRepeated = hasNothingNew && page.received > 0;
      return { ranges, total, isConsistent: agrees && !isRepeated };
    }
  }
  throw new UnstableListError(`The partner's list has more than ${MAX_PAGES} pages.`);
}

/** The statuses with which partners refuse a page past the end. Others, such as 403 or 408, have other causes. */
const PAST_END: readonly (number | undefined)[] = [400, 404, 410, 416, 422];

/**
 * Fetches a page. A later page that is refused as past the end is returned as the empty page that the contract requires
 * (decision 43), with a finding: the partner refuses such pages, or its list became shorter.
 */
export async function readPageOrEnd<T>(
  fetchPage: (page: number) => Promise<ListedPage<T>>,
  number: number,
): Promise<{ page: ListedPage<T>; isEnd: boolean }> {
  try {
    return { page: await fetchPage(number), isEnd: false };
  } catch (error) {
    if (number === 1 || !(error instanceof PartnerFailure) || error.kind !== 'rejected') throw error;
    if (!PAST_END.includes(error.status)) throw error;
    const reason = `a page past the end must be an empty list, not a response with status ${error.status}`;
    const findings = [{ path: 'page', reason }];
    return { page: { items: [], received: 0, fingerprints: [], ranges: [], pagination: {}, findings }, isEnd: true };
  }
}

/** Totals count only where a page that is not full confirms them. Without totals, only an empty page is the last. */
export function isLastPage({ received, pagination }: ListedPage<unknown>, number: number): boolean {
  if (received === 0) return true;
  const { pageSize, totalItems } = pagination;
  const pages = totalPages(pagination);
  if (pages === undefined || number < pages) return false;
  // A full last page also occurs where the totals are too low.
  return pageSize === undefined || received < pageSize || totalItems === undefined || totalItems === number * pageSize;
}

const totalPages = ({ totalPages: pages, pageSize, totalItems }: Pagination): number | undefined =>
  pages ?? (totalItems !== undefined && pageSize ? Math.ceil(totalItems / pageSize) : undefined);

const isSame = (one: Reading, other: Reading): boolean =>
  one.total === other.total &&
  one.ranges.size === other.ranges.size &&
  [...one.ranges].every((range) => other.ranges.has(range));
