import type { Pagination } from '../../contracts/common/pagination.dto.js';
import { pageOrEnd } from './past-the-end.js';
import type { ListedPage } from './read-list.js';

/** Pages of one reading; a list that is longer is not believed. */
const MOST_PAGES = 2_000;
/** Different elements of one reading: as many as these pages hold when they are as long as was asked for, and some. */
const MOST_ELEMENTS = 250_000;
/**
 * Pages in a row that show what the page before them did, under new ids: such a partner ignores `page`, and makes ids
 * anew at each listing. Several streams of a camera, listed one after the other, repeat ranges too, but not those of
 * the page before.
 */
const MOST_REPEATS = 10;
/** Readings of one list until two agree. */
const MOST_READINGS = 5;

/** The list changed while it was read, again and again, lacks a page, or never ends. `message` is a sentence. */
export class UnstableList extends Error {
  readonly expected = true;
}

interface Reading {
  /** By which two readings are compared; ids may be others in each. */
  readonly ranges: ReadonlySet<string>;
  readonly total: number | undefined;
  /** Its pages agreed about the total, and hold as much as it says; without a total it is one page, which cannot shift. */
  readonly whole: boolean;
}

/**
 * Reads every page of a list, though elements come and go meanwhile and shift the others from page to page, and though
 * the totals may be wrong: until one reading is whole by its own totals, or two readings in a row found the same.
 * `onPage` is given each page as it comes, those of repeated readings too; one past the end that the partner refused as an
 * empty one, with a finding. Where `isEnough` says so after a page, no other is asked for. Throws `UnstableList`, and what
 * `fetchPage` throws.
 */
export async function readWhole<T>(
  fetchPage: (page: number) => Promise<ListedPage<T>>,
  onPage: (page: ListedPage<T>) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<void> {
  let last: Reading | undefined;
  for (let i = 0; i < MOST_READINGS; i++) {
    const reading = await readOnce(fetchPage, onPage, isEnough);
    if (reading.whole || (last !== undefined && agree(reading, last))) return;
    last = reading;
  }
  throw new UnstableList(`The partner's list was another one each of the ${MOST_READINGS} times it was read.`);
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
  let shownBefore = '';
  let repeats = 0;
  for (let number = 1; number <= MOST_PAGES; number++) {
    const { page, isEnd } = await pageOrEnd(fetchPage, number);
    if (isEnd && pages !== undefined && number <= pages) {
      // Refused though the list's own totals count it: it is missing.
      throw new UnstableList(`The partner's list has ${pages} pages, but page ${number} of it was refused.`);
    }
    await onPage(page);
    if (isEnough()) return { ranges, total: undefined, whole: true };
    pages = pagesIn(page.pagination);
    totals.add(page.pagination.totalItems);
    const before = fingerprints.size;
    for (const fingerprint of page.fingerprints) fingerprints.add(fingerprint);
    for (const range of page.ranges) ranges.add(range);
    if (fingerprints.size > MOST_ELEMENTS) {
      throw new UnstableList(`The partner's list has more than ${MOST_ELEMENTS} elements.`);
    }
    const shown = page.ranges.toSorted().join();
    repeats = shown !== '' && shown === shownBefore ? repeats + 1 : 0;
    shownBefore = shown;
    // A partner that ignores `page` sends the same one for ever.
    const nothingNew = fingerprints.size === before || repeats === MOST_REPEATS;
    if (nothingNew || isLastPage(page, number)) {
      const [total] = totals;
      const whole = total === undefined ? number === 1 : totals.size === 1 && fingerprints.size >= total;
      const isRepeated = nothingNew && page.received > 0;
      return { ranges, total, whole: whole && !isRepeated };
    }
  }
  throw new UnstableList(`The partner's list has more than ${MOST_PAGES} pages.`);
}

/** By its totals, where a page that is not full agrees with them; without totals only an empty page is the last. */
export function isLastPage({ received, pagination }: ListedPage<unknown>, number: number): boolean {
  if (received === 0) return true;
  const { pageSize, totalItems } = pagination;
  const pages = pagesIn(pagination);
  if (pages === undefined || number < pages) return false;
  // A full last page is what totals that are too low look like, but also what exact ones do.
  return pageSize === undefined || received < pageSize || totalItems === undefined || totalItems === number * pageSize;
}

const pagesIn = ({ totalPages, pageSize, totalItems }: Pagination): number | undefined =>
  totalPages ?? (totalItems !== undefined && pageSize ? Math.ceil(totalItems / pageSize) : undefined);

function agree(one: Reading, other: Reading): boolean {
  return (
    one.total === other.total &&
    one.ranges.size === other.ranges.size &&
    [...one.ranges].every((range) => other.ranges.has(range))
  );
}
