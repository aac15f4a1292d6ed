import { isJsonObject } from '../../contracts/common/json.js';
import { hasStatus, ownField, shown } from '../checks.js';
import { failed, MissingData, notApplicable, notProven, passed, passedUnless, type Rule } from '../rule.js';
import { elementsOf, paginationOf } from './vision-facts.js';
import { isCount, type ListNames, visionId } from './vision-lists.js';

/** Rules of `page` and `pageSize`: two pages of one element each, a page of 100, and one above the maximum. */

type Check = Rule['check'];

const areDistinct =
  (secondPage: string): Check =>
  async (exchange, run) => {
    const second = await run.exchange(secondPage);
    if (second instanceof MissingData) return notProven(second.message);
    const [before, after] = [exchange, second].map((page) =>
      elementsOf(page).map((element) => ownField(element, 'id')),
    );
    if (before === undefined || after === undefined || before.length === 0 || after.length === 0)
      return notProven('there are fewer than two elements');
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
  const rule = (
    offset: number,
    plan: string,
    title: string,
    remedy: string,
    check: Check,
    needs: number[] = [],
  ): Rule => ({
    id: visionId(first + offset),
    section,
    severity: 'must',
    operation,
    on: plan,
    title,
    remedy,
    needs: needs.map((each) => visionId(first + each)),
    check,
  });
  return [
    rule(0, page1, 'a page of one element is answered with 200', 'Accept page and pageSize.', hasStatus(200)),
    rule(1, page1, 'pageSize limits the elements of a page', 'Return at most pageSize elements.', hasOneElement),
    rule(
      2,
      page1,
      'the pagination repeats page and pageSize of the request',
      'Return the page and the pageSize that were asked for.',
      returnsPage(1),
    ),
    rule(3, page2, 'the second page is answered with 200', 'Accept page and pageSize.', hasStatus(200)),
    rule(
      4,
      page2,
      'the pagination of the second page names page 2',
      'Return the page that was asked for.',
      returnsPage(2),
    ),
    rule(
      5,
      page1,
      'the second page has other elements than the first',
      'Use a stable order, and skip the elements of earlier pages.',
      areDistinct(page2),
      [1, 3],
    ),
  ];
}

/** The maximum itself is permitted (section 8). */
export const fullPageRule = (id: string, on: string, operation: ListNames['operation']): Rule => ({
  id,
  on,
  operation,
  section: '8',
  severity: 'must',
  title: 'a pageSize of 100 is accepted',
  remedy: 'Accept a pageSize from 1 to 100, and return that pageSize.',
  check: (exchange) => {
    const status = hasStatus(200)(exchange);
    if (status.outcome !== 'passed') return status;
    const pageSize = ownField(paginationOf(exchange), 'pageSize');
    return isCount(pageSize) && pageSize !== 100 ? failed(`pagination.pageSize is ${pageSize}`) : passed;
  },
});

/** A page with a pageSize above the maximum: it is refused, or cut to 100. */
export function largePageRule(id: string, on: string, operation: ListNames['operation']): Rule {
  return {
    id,
    on,
    operation,
    section: '8',
    severity: 'must',
    title: 'a pageSize above 100 is answered with 400, or with at most 100 elements',
    remedy: 'Limit pageSize to 100.',
    check: (exchange) => {
      if (exchange.status === 400) return passed;
      const other = hasStatus(200, 400)(exchange);
      if (other.outcome !== 'passed') return other;
      const { length } = elementsOf(exchange);
      const pageSize = ownField(paginationOf(exchange), 'pageSize');
      if (length > 100) return failed(`the page has ${length} elements`);
      return isCount(pageSize) && pageSize > 100 ? failed(`pagination.pageSize is ${pageSize}`) : passed;
    },
  };
}
