import { epochMillis } from '../../contracts/common/instant.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { shown } from '../checks.js';
import { type Exchange, UnprovenError } from '../exchange.js';
import { type Exchanges, failed, notProven, passed, type Verdict } from '../rule.js';
import type { ListName, ListRule } from './list-rule.js';
import { listFacts } from './vision-facts.js';
import { readingOf } from './vision-reading.js';

/** Checks of the elements of a list. */

export const noElements = notProven('the list is empty');

export const queryValue = (exchange: Exchange, name: string): string | undefined =>
  new URL(exchange.request.url).searchParams.get(name) ?? undefined;

export function differs(name: string, value: string, exchange: Exchange): string | undefined {
  const requested = queryValue(exchange, name);
  return requested === undefined || requested.toLowerCase() === value.toLowerCase()
    ? undefined
    : `${name} is ${shown(value)}, requested was ${shown(requested)}`;
}

/** Why an element lies outside the range of the request. */
export function liesOutside({ startTime, endTime }: Recording, exchange: Exchange): string | undefined {
  const [from = NaN, to = NaN] = ['startTime', 'endTime'].map((name) => Date.parse(queryValue(exchange, name) ?? ''));
  return epochMillis(endTime) <= from || epochMillis(startTime) >= to
    ? 'lies outside the range of the request'
    : undefined;
}

/** A check of the elements whose fields are valid. */
export const everyElement =
  (faultOf: (element: Recording, exchange: Exchange) => string | undefined) =>
  (exchange: Exchange): Verdict => {
    const { valid } = listFacts(exchange);
    if (valid.length === 0) return noElements;
    for (const element of valid) {
      const fault = faultOf(element, exchange);
      if (fault !== undefined) return failed(`element ${element.id}: ${fault}`);
    }
    return passed;
  };

/** A check of the first answer and of all pages of the list; the first page that fails decides. */
export function onEveryPage(check: (exchange: Exchange) => Verdict): ListRule['check'] {
  return async (first, run, list) => {
    const verdict = check(first);
    if (verdict.outcome !== 'passed') return verdict;
    for (const page of await laterPagesOf(run, list)) {
      const { outcome, message = '' } = check(page);
      if (outcome === 'failed') return failed(`${new URL(page.request.url).search}: ${message}`);
    }
    return verdict;
  };
}

/** A check of the elements of all pages. */
export const everyListed = (
  faultOf: (element: Recording, exchange: Exchange) => string | undefined,
): ListRule['check'] => onEveryPage(everyElement(faultOf));

/** The pages of the whole list. None of a list that the kit may not read in pages, or that it cannot divide. */
async function laterPagesOf(run: Exchanges, list: ListName): Promise<readonly Exchange[]> {
  if (list === 'clip') return [];
  try {
    return (await readingOf(run, `${list}All`)).pages;
  } catch (error) {
    if (error instanceof UnprovenError) return [];
    throw error;
  }
}
