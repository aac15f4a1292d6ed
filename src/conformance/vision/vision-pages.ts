import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { hasStatus, type RuleRow, rulesOf, shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, notProven, passedUnless, type Rule } from '../rule.js';
import { elementsOf, paginationOf } from './vision-facts.js';
import { isCount, type ListNames, visionId } from './vision-lists.js';

/** Rules of `page` and `pageSize`: two pages of one element each, a page of 100, and one above the maximum. */

type Check = Rule['check'];

const areDistinct =
  (secondPage: string): Check =>
  async (exchange, run) => {
    const second = await run.exchange(secondPage);
    const [before = [], after = []] = [exchange, second].map((page) =>
      elementsOf(page).map((element) => ownField(element, 'id')),
    );
    if (before.length === 0 || after.length === 0) return notProven('there are fewer than two elements');
    return passedUnless(
      after.some((id) => before.includes(id)) ? `the second page repeats ${shown(after[0])} of the first` : undefined,
    );
  };

const hasOneElement: Check = (exchange) => {
  const { length } = elementsOf(exchange);
  return length === 0
    ? notProven('the list is empty')
    : passedUnless(length === 1 ? undefined : `the page has ${length} elements, expected 1`);
};

const returnsPage =
  (page: number): Check =>
  (exchange) => {
    const pagination = paginationOf(exchange);
    if (!isJsonObject(pagination)) return notApplicable('the answer has no pagination');
    const { page: returned, pageSize } = pagination;
    if (returned != null && returned !== page) return failed(`pagination.page is ${shown(returned)}, expected ${page}`);
    return passedUnless(
      pageSize == null || pageSize === 1 ? undefined : `pagination.pageSize is ${shown(pageSize)}, expected 1`,
    );
  };

/** Numbers 0 to 5 of a block. */
export function pageRules({ on, operation, first, section }: ListNames): Rule[] {
  const [page1, page2] = [`${on}Page1`, `${on}Page2`];
  const row = (
    offset: number,
    plan: string,
    title: string,
    remedy: string,
    check: Check,
    needs: number[] = [],
  ): RuleRow => [
    visionId(first + offset),
    section,
    plan,
    title,
    remedy,
    check,
    needs.map((each) => visionId(first + each)),
  ];
  return rulesOf(operation, [
    row(0, page1, 'a page of one element is answered with 200', 'Accept page and pageSize.', hasStatus(200)),
    row(1, page1, 'pageSize limits the elements of a page', 'Return at most pageSize elements.', hasOneElement),
    row(
      2,
      page1,
      'the pagination repeats page and pageSize of the request',
      'Return the page and the pageSize that were asked for.',
      returnsPage(1),
    ),
    row(3, page2, 'the second page is answered with 200', 'Accept page and pageSize.', hasStatus(200)),
    row(
      4,
      page2,
      'the pagination of the second page names page 2',
      'Return the page that was asked for.',
      returnsPage(2),
    ),
    row(
      5,
      page1,
      'the second page has other elements than the first',
      'Use a stable order, and skip the elements of earlier pages.',
      areDistinct(page2),
      [1, 3],
    ),
  ]);
}

/** The maximum of section 8, and a pageSize above it, which is refused or reduced to 100. */
export const pageSizeRules = (
  operation: ListNames['operation'],
  [largeId, large]: readonly [id: string, on: string],
  [fullId, full]: readonly [id: string, on: string],
): Rule[] =>
  rulesOf(operation, [
    [
      largeId,
      '8',
      large,
      'a pageSize above 100 is answered with 400, or with at most 100 elements',
      'Limit pageSize to 100.',
      (exchange) => {
        const fault = statusFault(exchange, 200, 400);
        if (fault !== undefined || exchange.status === 400) return passedUnless(fault);
        const { length } = elementsOf(exchange);
        if (length > 100) return failed(`the page has ${length} elements`);
        return passedUnless(pageSizeFault(exchange, (pageSize) => pageSize <= 100));
      },
    ],
    [
      fullId,
      '8',
      full,
      'a pageSize of 100 is accepted',
      'Accept a pageSize from 1 to 100, and return that pageSize.',
      (exchange) => passedUnless(statusFault(exchange, 200) ?? pageSizeFault(exchange, (pageSize) => pageSize === 100)),
    ],
  ]);

function pageSizeFault(exchange: Exchange, isValid: (pageSize: number) => boolean): string | undefined {
  const pageSize = ownField(paginationOf(exchange), 'pageSize');
  return isCount(pageSize) && !isValid(pageSize) ? `pagination.pageSize is ${pageSize}` : undefined;
}
