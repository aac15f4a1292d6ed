import { isJsonObject, type JsonObject, ownField } from '../../contracts/common/json.js';
import { hasStatus, serverRules, shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, notProven, passedIf, passedUnless, type Rule, type Verdict } from '../rule.js';
import { elementsOf, paginationOf } from './vision-facts.js';
import { idsOf, type ListNames, visionId } from './vision-lists.js';

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
    const name = ['page', 'pageSize', 'totalItems', 'totalPages'].find(
      (each) => ownField(fields, each) != null && !isCount(fields[each]),
    );
    return name && `${name} must be a whole number, it is ${shown(fields[name])}`;
  })(exchange);
};

/** Numbers 30 to 34 of a block: pagination of a list without `page` and `pageSize`. */
export function paginationRules({ on, operation, first }: ListNames): Rule[] {
  const [counts, defaultPage, defaultSize, pages, items] = idsOf(first, 30);
  const section = operation === 'listVideos' ? '4.5' : '2.6';
  const list = `${operation} | ${on} | ${visionId(first + 4)}`;
  return serverRules(
    `
${counts} | must | ${section} | ${list} | page, pageSize, totalItems and totalPages are whole numbers, or absent | Send the four fields of the pagination as whole numbers.
${defaultPage} | must | 8 | ${list} | the default page is 1 | Return the first page where the request has no page, and page: 1.
${defaultSize} | must | 8 | ${list} | the default pageSize is 20 | Return at most 20 elements where the request has no pageSize, and pageSize: 20.
${pages} | must | ${section} | ${list} | totalPages is totalItems divided by pageSize, rounded up | Compute totalPages from totalItems and pageSize.
${items} | must | ${section} | ${list} | totalItems counts the elements of all pages | Count the elements that match the request.
`,
    {
      [counts]: hasCounts,
      [defaultPage]: paged(({ page }) => (!isCount(page) || page === 1 ? undefined : `page is ${page}`)),
      [defaultSize]: paged(({ pageSize }, exchange) => {
        if (isCount(pageSize) && pageSize !== 20) return `pageSize is ${pageSize}`;
        const { length } = elementsOf(exchange);
        return length > 20 ? `the page has ${length} elements` : undefined;
      }),
      [pages]: paged(({ totalItems, totalPages, pageSize }) => {
        if (!isCount(totalItems) || !isCount(totalPages) || !isCount(pageSize) || pageSize === 0) return undefined;
        const expected = Math.ceil(totalItems / pageSize);
        // Some servers count an empty list as one page.
        return totalPages === expected || (totalItems === 0 && totalPages === 1)
          ? undefined
          : `totalPages is ${totalPages}, expected ${expected}`;
      }),
      [items]: paged(({ totalItems, pageSize }, exchange) => {
        const { length } = elementsOf(exchange);
        const size = isCount(pageSize) && pageSize > 0 ? pageSize : 20;
        if (!isCount(totalItems)) return undefined;
        if (length < size && length < 20 && totalItems !== length)
          return `totalItems is ${totalItems}, the only page has ${length} elements`;
        return totalItems < length ? `totalItems is ${totalItems}, the page has ${length} elements` : undefined;
      }),
    },
  )();
}

const areDistinct =
  (secondPage: string): Check =>
  async (exchange, run) => {
    const second = await run.exchange(secondPage);
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

/** Numbers 0 to 5 of a block. */
export function pageRules({ on, operation, first, section }: ListNames): Rule[] {
  const [page1, limits, repeats, page2, second, others] = idsOf(first, 0);
  const of = (page: number) => `must | ${section} | ${operation} | ${on}Page${page}`;
  return serverRules(
    `
${page1} | ${of(1)} | - | a page of one element is answered with 200 | Accept page and pageSize.
${limits} | ${of(1)} | - | pageSize limits the elements of a page | Return at most pageSize elements.
${repeats} | ${of(1)} | - | the pagination repeats page and pageSize of the request | Return the page and the pageSize of the request.
${page2} | ${of(2)} | - | the second page is answered with 200 | Accept page and pageSize.
${second} | ${of(2)} | - | the pagination of the second page names page 2 | Return the page of the request.
${others} | ${of(1)} | ${limits} ${page2} ${operation === 'listVideos' ? 'VISION-028' : 'VISION-128'} | the second page has other elements than the first | Use a stable order, and skip the elements of earlier pages.
`,
    {
      [page1]: hasStatus(200),
      [limits]: hasOneElement,
      [repeats]: returnsPage(1),
      [page2]: hasStatus(200),
      [second]: returnsPage(2),
      [others]: areDistinct(`${on}Page2`),
    },
  )();
}

/** The maximum of section 8, and a pageSize above it, which is refused or reduced to 100. */
export const pageSizeRules = (operation: ListNames['operation'], on: string, large: string, full: string): Rule[] =>
  serverRules(
    `
${large} | must | 8 | ${operation} | ${on}LargePage | - | a pageSize above 100 is answered with 400, or with at most 100 elements | Limit pageSize to 100.
${full} | must | 8 | ${operation} | ${on}FullPage | - | a pageSize of 100 is accepted | Accept a pageSize from 1 to 100, and return that pageSize.
`,
    {
      [large]: (exchange) => {
        const fault = statusFault(exchange, 200, 400);
        if (fault !== undefined || exchange.status === 400) return passedUnless(fault);
        const { length } = elementsOf(exchange);
        if (length > 100) return failed(`the page has ${length} elements`);
        return passedUnless(pageSizeFault(exchange, (pageSize) => pageSize <= 100));
      },
      [full]: (exchange) =>
        passedUnless(statusFault(exchange, 200) ?? pageSizeFault(exchange, (pageSize) => pageSize === 100)),
    },
  )();

function pageSizeFault(exchange: Exchange, isValid: (pageSize: number) => boolean): string | undefined {
  const pageSize = ownField(paginationOf(exchange), 'pageSize');
  return isCount(pageSize) && !isValid(pageSize) ? `pagination.pageSize is ${pageSize}` : undefined;
}
