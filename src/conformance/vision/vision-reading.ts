import { ownField } from '../../contracts/common/json.js';
import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { type Exchange, UnprovenError } from '../exchange.js';
import { type Exchanges, failed, notProven, passed, type Verdict } from '../rule.js';
import { elementsOf, listFacts, type ListName, type ListRule, paginationOf, withoutElements } from './vision-facts.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { shown } from '../checks.js';

/** Reads all pages of a range, as the platform does, and as it does not: with small pages. */

/** A list with more elements is read in the range of its first page only. */
const MAX_ELEMENTS = 1_000;
/** Of one reading: those of the largest list, and the page past its end. */
const MAX_PAGES = 12;
const MAX_PAGE_SIZE = 100;
/** Small pages show faults that one page of a short list hides. */
const SMALL_PAGES = 3;

/** The lists with pages. */
export type ReadList = Exclude<ListName, 'clip'>;

/** Small pages, the same again, and pages of 100, with which the platform reads. */
export type ReadingName = 'All' | 'Repeat' | 'Again';

export interface Listed {
  readonly id: unknown;
  /** Truck, camera and range, which identify a recording as well. */
  readonly key: string;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly page: number;
}

export interface Reading {
  /** Pages that brought elements. */
  readonly pages: readonly Exchange[];
  readonly elements: readonly Listed[];
  /** The page after them: empty, refused, or with nothing but elements of earlier pages. Undefined if the list goes on. */
  readonly past: Exchange | undefined;
}

const timeOf = (value: unknown): number | undefined => {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  return instant === undefined ? undefined : epochMillis(instant);
};

export const keyOf = (element: unknown): string =>
  JSON.stringify(['truckId', 'cameraId', 'startTime', 'endTime'].map((name) => ownField(element, name)));

const listed = (element: unknown, page: number): Listed => ({
  id: ownField(element, 'id'),
  key: keyOf(element),
  startMs: timeOf(ownField(element, 'startTime')),
  endMs: timeOf(ownField(element, 'endTime')),
  page,
});

/** A number of the pagination. */
export const countOf = (page: Exchange, name: string): number | undefined => {
  const value = ownField(paginationOf(page), name);
  return Number.isInteger(value) ? (value as number) : undefined;
};

/** The pages that a list has by the totals of its first page. */
export function promisedPages([first]: readonly Exchange[]): number {
  if (first === undefined) return 1;
  const [items = 0, size = 0] = [countOf(first, 'totalItems'), countOf(first, 'pageSize')];
  return Math.max(countOf(first, 'totalPages') ?? 0, size === 0 ? 0 : Math.ceil(items / size));
}

const known = new WeakMap<Exchanges, Map<string, Promise<Reading>>>();

/** The pages of a request. They are read once in a run. */
export function readingOf(run: Exchanges, name: string): Promise<Reading> {
  const readings = known.get(run) ?? new Map<string, Promise<Reading>>();
  known.set(run, readings);
  const reading = readings.get(name) ?? readAll(run, name);
  readings.set(name, reading);
  return reading;
}

async function readAll(run: Exchanges, name: string): Promise<Reading> {
  const [pages, elements, seen]: [Exchange[], Listed[], Set<string>] = [[], [], new Set()];
  for (let number = 1; number <= MAX_PAGES; number++) {
    const page = await run.exchange(name, number);
    const found = page.status === 200 ? elementsOf(page).map((element) => listed(element, number)) : [];
    const identities = found.map(({ id, key }) => JSON.stringify([id, key]));
    const hasNews = identities.some((each) => !seen.has(each));
    const isEnd = found.length === 0 || (!hasNews && number > promisedPages(pages));
    if (isEnd) return { pages, elements, past: page };
    for (const each of identities) seen.add(each);
    pages.push(page);
    elements.push(...found);
  }
  return { pages, elements, past: undefined };
}

type Query = Readonly<Record<string, string>>;

/** The query of a reading: the range, and pages that divide a short list as well. */
export async function scopeOf(run: Exchanges, list: ReadList, isSmall: boolean): Promise<Query> {
  const first = await run.exchange(list);
  const elements = elementsOf(first).map((element) => listed(element, 1));
  if (elements.length === 0) throw withoutElements(list, first);
  const count = Math.max(countOf(first, 'totalItems') ?? 0, elements.length);
  const isLong = count > MAX_ELEMENTS;
  const parts = Math.ceil((isLong ? elements.length : count) / SMALL_PAGES);
  const pageSize = isSmall ? Math.min(parts, MAX_PAGE_SIZE) : MAX_PAGE_SIZE;
  return { pageSize: String(pageSize), ...(isLong ? rangeOf(elements) : {}) };
}

function rangeOf(elements: readonly Listed[]): Query {
  const [starts, ends] = [elements.map(({ startMs }) => startMs), elements.map(({ endMs }) => endMs)];
  const times = [...starts, ...ends].filter((each) => each !== undefined);
  return {
    startTime: new Date(Math.min(...times)).toISOString(),
    endTime: new Date(Math.max(...times)).toISOString(),
  };
}

/** A range within one element: a server that lists what begins or ends in a range leaves this element out. */
export async function insideOf(run: Exchanges, list: ListName): Promise<{ element: Listed; range: Query }> {
  const { elements } = await readingOf(run, `${list}All`);
  const long = elements.filter(({ startMs, endMs }) => (endMs ?? 0) - (startMs ?? 0) >= MIN_LENGTH_MS);
  const element = long[Math.floor(long.length / 2)];
  if (element?.startMs === undefined || element.endMs === undefined)
    throw new UnprovenError(`no element of the list has a range of ${MIN_LENGTH_MS / 1_000} s or more`);
  const { startMs, endMs } = element;
  const quarter = Math.floor((endMs - startMs) / 4_000) * 1_000;
  const range = {
    startTime: new Date(startMs + quarter).toISOString(),
    endTime: new Date(endMs - quarter).toISOString(),
  };
  return { element, range };
}

const MIN_LENGTH_MS = 4_000;

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
    if (valid.length === 0)
      return elementsOf(exchange).length === 0 ? noElements : notProven('no element has valid fields');
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
