import { isJsonObject, type JsonObject, ownField } from '../../contracts/common/json.js';
import { hasStatus, nameInsteadOf, shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, notProven, passedIf, passedUnless, type Rule, type Verdict } from '../rule.js';
import { ANSWER, elementsOf, LISTED, type ListRule, paginationOf, QUERY } from './vision-facts.js';

/** Rules of the pagination of an answer, and of the parameters `page` and `pageSize`. */

type Check = Rule['check'];

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** A check of the pagination, which an answer may leave out. */
const paged =
  (faultOf: (page: JsonObject, exchange: Exchange) => string | undefined) =>
  (exchange: Exchange): Verdict => {
    const page = paginationOf(exchange);
    return isJsonObject(page) ? passedUnless(faultOf(page, exchange)) : notApplicable('the answer has no pagination');
  };

const hasCounts: Check = (exchange) => {
  const page = paginationOf(exchange);
  if (page != null && !isJsonObject(page)) return failed(`pagination must be an object, it is ${shown(page)}`);
  return paged((fields) => {
    for (const name of ['page', 'pageSize', 'totalItems', 'totalPages']) {
      const [value, other] = [ownField(fields, name), nameInsteadOf(fields, name)];
      if (other !== undefined) return `${name} is absent: the pagination has ${other}`;
      if (value != null && !isCount(value)) return `${name} must be a whole number, it is ${shown(value)}`;
    }
    return undefined;
  })(exchange);
};

const PAGINATION = { section: ANSWER, severity: 'must', needs: [LISTED] } as const;

/** The pagination of a list without `page` and `pageSize`. */
export const PAGINATION_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-031', continuous: 'VISION-131' },
    ...PAGINATION,
    title: 'page, pageSize, totalItems and totalPages are whole numbers, or absent',
    remedy: 'Send the four fields of the pagination as whole numbers.',
    check: hasCounts,
  },
  {
    id: { videos: 'VISION-032', continuous: 'VISION-132' },
    ...PAGINATION,
    section: '8',
    title: 'the default page is 1',
    remedy: 'Return the first page where the request has no page, and page: 1.',
    check: paged(({ page }) => (!isCount(page) || page === 1 ? undefined : `page is ${page}`)),
  },
  {
    id: { videos: 'VISION-033', continuous: 'VISION-133' },
    ...PAGINATION,
    section: '8',
    title: 'the default pageSize is 20',
    remedy: 'Return at most 20 elements where the request has no pageSize, and pageSize: 20.',
    check: paged(({ pageSize }, exchange) => {
      if (isCount(pageSize) && pageSize !== 20) return `pageSize is ${pageSize}`;
      const { length } = elementsOf(exchange);
      return length > 20 ? `the page has ${length} elements` : undefined;
    }),
  },
  {
    id: { videos: 'VISION-034', continuous: 'VISION-134' },
    ...PAGINATION,
    title: 'totalPages is totalItems divided by pageSize, rounded up',
    remedy: 'Compute totalPages from totalItems and pageSize.',
    check: paged(({ totalItems, totalPages, pageSize = 20 }) => {
      if (!isCount(totalItems) || !isCount(totalPages) || !isCount(pageSize) || pageSize === 0) return undefined;
      const expected = Math.ceil(totalItems / pageSize);
      // Some servers count an empty list as one page.
      return totalPages === expected || (totalItems === 0 && totalPages === 1)
        ? undefined
        : `totalPages is ${totalPages}, expected ${expected}`;
    }),
  },
  {
    id: { videos: 'VISION-035', continuous: 'VISION-135' },
    ...PAGINATION,
    title: 'totalItems counts the elements of all pages',
    remedy: 'Count the elements that match the request.',
    check: paged(({ totalItems, pageSize }, exchange) => {
      const { length } = elementsOf(exchange);
      const size = isCount(pageSize) && pageSize > 0 ? pageSize : 20;
      if (!isCount(totalItems)) return undefined;
      if (length < size && length < 20 && totalItems !== length)
        return `totalItems is ${totalItems}, the only page has ${length} elements`;
      return totalItems < length ? `totalItems is ${totalItems}, the page has ${length} elements` : undefined;
    }),
  },
];

const areDistinct: ListRule['check'] = async (exchange, run, list) => {
  const second = await run.exchange(`${list}Page2`);
  const [before = [], after = []] = [exchange, second].map((page) =>
    elementsOf(page).map((element) => ownField(element, 'id')),
  );
  if (before.length === 0 || after.length === 0) return notProven('there are fewer than two elements');
  const isRepeated = after.some((id) => before.includes(id));
  return passedIf(!isRepeated, `the second page repeats ${shown(after[0])} of the first`);
};

const hasOneElement: Check = (exchange) => {
  const { length } = elementsOf(exchange);
  return length === 0
    ? notProven('the list is empty')
    : passedIf(length === 1, `the page has ${length} elements, expected 1`);
};

const returnsPage =
  (page: number): Check =>
  (exchange) => {
    const pagination = paginationOf(exchange);
    if (!isJsonObject(pagination)) return notApplicable('the answer has no pagination');
    const { page: returned, pageSize } = pagination;
    if (returned != null && returned !== page) return failed(`pagination.page is ${shown(returned)}, expected ${page}`);
    return passedIf(pageSize == null || pageSize === 1, `pagination.pageSize is ${shown(pageSize)}, expected 1`);
  };

const LIMITED = { videos: 'VISION-081', continuous: 'VISION-145' } as const;
const SECOND_PAGE = { videos: 'VISION-083', continuous: 'VISION-147' } as const;
const NO_REPEATS = { videos: 'VISION-028', continuous: 'VISION-128' } as const;

const FIRST_PAGE = { section: QUERY, severity: 'must', on: 'Page1' } as const;

/** Pages of one element. */
export const PAGE_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-080', continuous: 'VISION-144' },
    ...FIRST_PAGE,
    title: 'a page of one element is answered with 200',
    remedy: 'Accept page and pageSize.',
    check: hasStatus(200),
  },
  {
    id: { videos: 'VISION-081', continuous: 'VISION-145' },
    ...FIRST_PAGE,
    title: 'pageSize limits the elements of a page',
    remedy: 'Return at most pageSize elements.',
    check: hasOneElement,
  },
  {
    id: { videos: 'VISION-082', continuous: 'VISION-146' },
    ...FIRST_PAGE,
    title: 'the pagination repeats page and pageSize of the request',
    remedy: 'Return the page and the pageSize of the request.',
    check: returnsPage(1),
  },
  {
    id: { videos: 'VISION-083', continuous: 'VISION-147' },
    ...FIRST_PAGE,
    on: 'Page2',
    title: 'the second page is answered with 200',
    remedy: 'Accept page and pageSize.',
    check: hasStatus(200),
  },
  {
    id: { videos: 'VISION-084', continuous: 'VISION-148' },
    ...FIRST_PAGE,
    on: 'Page2',
    title: 'the pagination of the second page names page 2',
    remedy: 'Return the page of the request.',
    check: returnsPage(2),
  },
  {
    id: { videos: 'VISION-085', continuous: 'VISION-149' },
    ...FIRST_PAGE,
    needs: [LIMITED, SECOND_PAGE, NO_REPEATS],
    title: 'the second page has other elements than the first',
    remedy: 'Use a stable order, and skip the elements of earlier pages.',
    check: areDistinct,
  },
];

/** The maximum of section 8, and a pageSize above it, which is refused or reduced to 100. */
export const PAGE_SIZE_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-043', continuous: 'VISION-150' },
    section: '8',
    severity: 'must',
    on: 'LargePage',
    title: 'a pageSize above 100 is answered with 400, or with at most 100 elements',
    remedy: 'Limit pageSize to 100.',
    check: (exchange) => {
      const fault = statusFault(exchange, 200, 400);
      if (fault !== undefined || exchange.status === 400) return passedUnless(fault);
      const { length } = elementsOf(exchange);
      if (length > 100) return failed(`the page has ${length} elements`);
      return passedUnless(pageSizeFault(exchange, (pageSize) => pageSize <= 100));
    },
  },
  {
    id: { videos: 'VISION-044', continuous: 'VISION-151' },
    section: '8',
    severity: 'must',
    on: 'FullPage',
    title: 'a pageSize of 100 is accepted',
    remedy: 'Accept a pageSize from 1 to 100, and return that pageSize.',
    check: (exchange) =>
      passedUnless(statusFault(exchange, 200) ?? pageSizeFault(exchange, (pageSize) => pageSize === 100)),
  },
];

function pageSizeFault(exchange: Exchange, isValid: (pageSize: number) => boolean): string | undefined {
  const pageSize = ownField(paginationOf(exchange), 'pageSize');
  return isCount(pageSize) && !isValid(pageSize) ? `pagination.pageSize is ${pageSize}` : undefined;
}
