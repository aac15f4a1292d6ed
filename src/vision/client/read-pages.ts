import type { Pagination } from '../../contracts/common/pagination.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { EMPTY_PAGE, type ListedPage, MAX_ELEMENTS } from './read-list.rules.js';

const MAX_PAGES = 2_000;
/**
 * Consecutive pages with the same ranges under new ids: the partner ignores `page` and generates ids for each list. Several
 * streams of a camera, listed one after another, repeat ranges as well, but not those of the previous page.
 */
const MAX_REPEATED_PAGES = 10;

/** The list lacks a page, or has no end. The message is a sentence for an admin. */
export class UnstableListError extends Error {
  readonly expected = true;
}

/**
 * Reads every page of a list once. Elements may be added or removed meanwhile and shift the others between pages, and totals
 * may be wrong. Returns whether the pages agree with each other: where they do not, the list is to be read again later.
 * `onPage` receives every page. No further page is read once `isEnough` returns true. Throws `UnstableListError`, and the
 * errors of `fetchPage`.
 */
export async function readAllPages(
  fetchPage: (page: number) => Promise<ListedPage>,
  onPage: (page: ListedPage) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<boolean> {
  const seen = new SeenPages();
  let pages: number | undefined;
  for (let number = 1; number <= MAX_PAGES; number++) {
    const { page, isEnd } = await readPageOrEnd(fetchPage, number);
    if (isEnd && pages !== undefined && number <= pages) {
      throw new UnstableListError(`The partner's list has ${pages} pages, but page ${number} of it was refused.`);
    }
    await onPage(page);
    if (isEnough()) return true;
    pages = totalPages(page.pagination);
    const hasNews = seen.add(page);
    if (seen.elements > MAX_ELEMENTS) {
      throw new UnstableListError(`The partner's list has more than ${MAX_ELEMENTS} elements.`);
    }
    if (!hasNews || isLastPage(page, number)) return seen.agree();
  }
  throw new UnstableListError(`The partner's list has more than ${MAX_PAGES} pages.`);
}

/** The pages of one list so far. */
class SeenPages {
  private readonly fingerprints = new Set<string>();
  private readonly totals = new Set<number | undefined>();
  private pagesWithNews = 0;
  private previous = '';
  private repeats = 0;

  get elements(): number {
    return this.fingerprints.size;
  }

  /** Returns whether the page has anything new: a partner that ignores `page` returns the same page each time. */
  add({ fingerprints, ranges, pagination }: ListedPage): boolean {
    this.totals.add(pagination.totalItems);
    const before = this.fingerprints.size;
    for (const fingerprint of fingerprints) this.fingerprints.add(fingerprint);
    const current = ranges.toSorted().join();
    this.repeats = current !== '' && current === this.previous ? this.repeats + 1 : 0;
    this.previous = current;
    const hasNews = this.fingerprints.size > before && this.repeats < MAX_REPEATED_PAGES;
    if (hasNews) this.pagesWithNews++;
    return hasNews;
  }

  /** All pages report one total, and have as many elements. Without a total, a list on one page agrees with itself. */
  agree(): boolean {
    const [total] = this.totals;
    if (total === undefined) return this.pagesWithNews <= 1;
    return this.totals.size === 1 && this.fingerprints.size >= total;
  }
}

/** The statuses with which partners refuse a page past the end. Others, such as 403 or 408, have other causes. */
const PAST_END: readonly (number | undefined)[] = [400, 404, 410, 416, 422];

/**
 * Fetches a page. A later page that is refused as past the end is returned as the empty page that the contract requires
 * (decision 43), with a finding: the partner refuses such pages, or its list became shorter.
 */
async function readPageOrEnd(
  fetchPage: (page: number) => Promise<ListedPage>,
  number: number,
): Promise<{ page: ListedPage; isEnd: boolean }> {
  try {
    return { page: await fetchPage(number), isEnd: false };
  } catch (error) {
    if (number === 1 || !(error instanceof PartnerFailure) || error.kind !== 'rejected') throw error;
    if (!PAST_END.includes(error.status)) throw error;
    const reason = `a page past the end must be an empty list, not a response with status ${error.status}`;
    return { page: { ...EMPTY_PAGE, findings: [{ path: 'page', reason }] }, isEnd: true };
  }
}

/** Totals count only where a page that is not full confirms them. Without totals, only an empty page is the last. */
function isLastPage({ received, pagination }: ListedPage, number: number): boolean {
  if (received === 0) return true;
  const { pageSize, totalItems } = pagination;
  const pages = totalPages(pagination);
  if (pages === undefined || number < pages) return false;
  // A full last page also occurs where the totals are too low.
  return pageSize === undefined || received < pageSize || totalItems === undefined || totalItems === number * pageSize;
}

const totalPages = ({ totalPages: pages, pageSize, totalItems }: Pagination): number | undefined =>
  pages ?? (totalItems !== undefined && pageSize ? Math.ceil(totalItems / pageSize) : undefined);
