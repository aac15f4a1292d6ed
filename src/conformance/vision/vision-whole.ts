import { shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import {
  type Exchanges,
  failed,
  notApplicable,
  notProven,
  passed,
  passedIf,
  passedUnless,
  type Verdict,
} from '../rule.js';
import { elementsOf, LISTED, type ListName, listOf, type ListRule, QUERY } from './vision-facts.js';
import {
  countOf,
  insideOf,
  keyOf,
  type Listed,
  promisedPages,
  type Reading,
  type ReadingName,
  readingOf,
} from './vision-reading.js';

/** Rules of a list that is read twice, with all its pages: ids, order and totals. */

type Check = ListRule['check'];

const named = ({ id, page }: Listed): string => `element ${shown(id)} of page ${page}`;

/** Pages within `totalPages`, and the first one, must be lists. */
const isReadable: Check = async (_, run, list) => isReadableTo(await readingOf(run, `${list}All`));

function isReadableTo({ pages, past }: Reading): Verdict {
  if (past === undefined || (pages.length > 0 && pages.length >= promisedPages(pages))) return passed;
  const fault = statusFault(past, 200) ?? (listOf(past) === undefined ? 'the answer is no list' : undefined);
  return passedUnless(fault && `page ${pages.length + 1}: ${fault}`);
}

const itemsFault = ({ pages, elements, past }: Reading): string | undefined => {
  const total = pages[0] && countOf(pages[0], 'totalItems');
  if (total === undefined || total === elements.length || (past === undefined && total > elements.length))
    return undefined;
  return `totalItems of page 1 is ${total}, all pages have ${elements.length}${past === undefined ? ' or more' : ''} elements`;
};

const noTotals = notApplicable('the pages have no totals');
const unfinished = notProven('the list has more pages than the kit reads');
const otherFault = notProven('totalItems is not the number of elements');

const totals =
  (faultOf: (reading: Reading) => string | undefined, isOfItems = false): Check =>
  async (_, run, list) => {
    const reading = await readingOf(run, `${list}All`);
    const [first] = reading.pages;
    if (first === undefined) return notProven('the list is empty');
    if (countOf(first, 'totalItems') === undefined && countOf(first, 'totalPages') === undefined) return noTotals;
    if (!isOfItems && itemsFault(reading) !== undefined) return otherFault;
    const fault = faultOf(reading);
    return fault === undefined && reading.past === undefined ? unfinished : passedUnless(fault);
  };

const pagesFault = ({ pages, past }: Reading): string | undefined => {
  const total = pages[0] && countOf(pages[0], 'totalPages');
  return total === undefined || total === pages.length || past === undefined
    ? undefined
    : `totalPages of page 1 is ${total}, ${pages.length} pages have elements`;
};

const changeFault = ({ pages }: Reading): string | undefined => {
  for (const name of ['totalItems', 'totalPages']) {
    const values = pages.map((page) => countOf(page, name));
    const i = values.findIndex((value) => value !== values[0]);
    if (i > 0) return `${name} of page ${i + 1} is ${shown(values[i])}, of page 1 ${shown(values[0])}`;
  }
  return undefined;
};

const hasNoRepeats: Check = async (_, run, list) => {
  const { elements } = await readingOf(run, `${list}All`);
  const pageOf = new Map<unknown, number>();
  // An id that is no text is the fault of another rule.
  for (const element of elements.filter(({ id }) => typeof id === 'string')) {
    const before = pageOf.get(element.id);
    if (before !== undefined) return failed(`${named(element)} was listed on page ${before}`);
    pageOf.set(element.id, element.page);
  }
  return passed;
};

/** Also in pages of 100: a server may sort each page for itself. */
const isOldestFirst: Check = async (_, run, list) => {
  const readings = await readingsOf(run, list, 'All', 'Again');
  if (readings.some(({ elements }) => elements.length < 2)) return notProven('there are fewer than two elements');
  const fault = readings.map(({ elements }) => orderFault(elements)).find((each) => each !== undefined);
  return passedUnless(fault);
};

function orderFault(elements: readonly Listed[]): string | undefined {
  const timed = elements.filter(({ startMs }) => startMs !== undefined);
  const i = timed.findIndex(({ startMs = 0 }, at) => startMs < (timed[at - 1]?.startMs ?? -Infinity));
  const [late, early] = [timed[i - 1], timed[i]];
  return early && late && `${named(early)} begins before ${named(late)}, which is listed first`;
}

/** A recording that was added meanwhile is no difference. */
const isSameAgain: Check = async (_, run, list) => {
  const [before, after] = await readingsOf(run, list, 'All', 'Repeat');
  const absent = missingFault(before, after);
  if (absent !== undefined) return failed(absent);
  const first = before.elements.map(({ key }) => key);
  const common = after.elements.map(({ key }) => key).filter((key) => first.includes(key));
  const moved = before.elements.find(({ key }, at) => key !== common[at]);
  return passedUnless(moved && `${named(moved)} has another place when the same pages are read again`);
};

function missingFault(before: Reading, after: Reading): string | undefined {
  const again = new Set(after.elements.map(({ key }) => key));
  const missing = before.elements.find(({ key }) => !again.has(key));
  return missing && `${named(missing)} is absent when the range is read again`;
}

/** Elements that pages of another size lack are lost between pages. */
const hasTheSameElements: Check = async (_, run, list) => {
  const readable = isReadableTo(await readingOf(run, `${list}Again`));
  if (readable.outcome !== 'passed') return readable;
  return passedUnless(missingFault(...(await readingsOf(run, list, 'All', 'Again'))));
};

/** Several elements may have one range, such as the clips of two requests. */
const hasSameIds: Check = async (_, run, list) => {
  const before = idsByKey((await readingsOf(run, list, 'All', 'All'))[0].elements);
  for (const { elements } of await readingsOf(run, list, 'Repeat', 'Again')) {
    const after = idsByKey(elements);
    for (const [key, ids] of before) {
      const others = after.get(key);
      if (others !== undefined && others.length === ids.length && others.join() !== ids.join())
        return failed(`the recording ${key} has the id ${others.join()}, it had ${ids.join()}`);
    }
  }
  return passedIfAny(before.size);
};

const passedIfAny = (count: number) => (count === 0 ? notProven('the list is empty') : passed);

function idsByKey(elements: readonly Listed[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { id, key } of elements) ids.set(key, [...(ids.get(key) ?? []), shown(id)].sort());
  return ids;
}

const readingsOf = (
  run: Exchanges,
  list: ListName,
  ...names: [first: ReadingName, second: ReadingName]
): Promise<[Reading, Reading]> => Promise.all([readingOf(run, list + names[0]), readingOf(run, list + names[1])]);

const endsEmpty: Check = async (_, run, list) => {
  const { pages, past } = await readingOf(run, `${list}All`);
  if (past === undefined) return unfinished;
  const { length } = elementsOf(past);
  return passedIf(length === 0, `page ${pages.length + 1}, past the end, has ${length} elements of earlier pages`);
};

const endsWithList: Check = async (_, run, list) => {
  const { pages, past } = await readingOf(run, `${list}All`);
  if (past === undefined) return unfinished;
  const fault = statusFault(past, 200);
  return passedUnless(fault && `page ${pages.length + 1}, past the end: ${fault}`);
};

const areFull: Check = async (exchange, run, list) => {
  const { pages, past } = await readingOf(run, `${list}All`);
  const asked = Number(new URL(exchange.request.url).searchParams.get('pageSize'));
  const others = past === undefined ? pages : pages.slice(0, -1);
  const sizeOf = (page: Exchange) => countOf(page, 'pageSize') ?? asked;
  const i = others.findIndex((page) => elementsOf(page).length !== sizeOf(page));
  const page = others[i];
  return passedUnless(
    page && `page ${i + 1} of ${pages.length} has ${elementsOf(page).length} elements, pageSize is ${sizeOf(page)}`,
  );
};

const listsInside: Check = async (exchange, run, list) => {
  const fault = statusFault(exchange, 200);
  if (fault !== undefined) return failed(fault);
  const { element, range } = await insideOf(run, list);
  const keys = elementsOf(exchange).map(keyOf);
  const asked = `${range['startTime'] ?? ''} to ${range['endTime'] ?? ''}`;
  return passedIf(keys.includes(element.key), `${element.key} is not listed for ${asked}, which lies within it`);
};

const READABLE = { videos: 'VISION-026', continuous: 'VISION-126' } as const;
const SAME_TWICE = { videos: 'VISION-029', continuous: 'VISION-129' } as const;
const NO_REPEATS = { videos: 'VISION-028', continuous: 'VISION-128' } as const;
const COUNTED = { videos: 'VISION-035', continuous: 'VISION-135' } as const;

/** What the rules of all pages of a range have in common. */
const WHOLE = { section: QUERY, severity: 'must', on: 'All', needs: [LISTED, NO_REPEATS] } as const;

/** Each reading has an empty page, or a refusal, at its end. */
export const WHOLE_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-026', continuous: 'VISION-126' },
    ...WHOLE,
    needs: [LISTED],
    title: 'every page of a range is answered with a list',
    remedy: 'Answer each page up to totalPages with 200.',
    check: isReadable,
  },
  {
    id: { videos: 'VISION-029', continuous: 'VISION-129' },
    ...WHOLE,
    on: 'Repeat',
    needs: [READABLE],
    title: 'pages that are read twice have the same elements in the same order',
    remedy:
      'Sort by startTime, then by id, in the query itself: without an order, elements are repeated or lost between pages.',
    check: isSameAgain,
  },
  {
    id: { videos: 'VISION-027', continuous: 'VISION-127' },
    ...WHOLE,
    on: 'Again',
    needs: [SAME_TWICE],
    title: 'pages of 100 elements have the same elements as smaller pages',
    remedy: 'Accept a pageSize from 1 to 100, and skip (page - 1) times pageSize elements.',
    check: hasTheSameElements,
  },
  {
    id: { videos: 'VISION-039', continuous: 'VISION-139' },
    ...WHOLE,
    on: 'Again',
    needs: [READABLE],
    title: 'a recording keeps its id from one list to the next',
    remedy: 'Store the id of each recording: do not create it for the answer.',
    check: hasSameIds,
  },
  {
    id: { videos: 'VISION-028', continuous: 'VISION-128' },
    ...WHOLE,
    needs: [LISTED, SAME_TWICE],
    title: 'no element is listed on two pages',
    remedy: 'Skip the elements of earlier pages, in a stable order.',
    check: hasNoRepeats,
  },
  {
    id: { videos: 'VISION-036', continuous: 'VISION-136' },
    ...WHOLE,
    needs: [LISTED, NO_REPEATS, COUNTED],
    title: 'totalItems is the number of elements of all pages together',
    remedy: 'Count all elements that match the request, not those of the page.',
    check: totals(itemsFault, true),
  },
  {
    id: { videos: 'VISION-037', continuous: 'VISION-137' },
    ...WHOLE,
    title: 'totalPages is the number of pages with elements',
    remedy: 'Divide the number of all elements by pageSize, and round up.',
    check: totals(pagesFault),
  },
  {
    id: { videos: 'VISION-038', continuous: 'VISION-138' },
    ...WHOLE,
    title: 'every page has the same totals',
    remedy: 'Send the totals of the whole list with each page.',
    check: totals(changeFault),
  },
  {
    id: { videos: 'VISION-048', continuous: 'VISION-155' },
    ...WHOLE,
    severity: 'should',
    title: 'every page but the last is full',
    remedy: 'Filter first, then divide into pages.',
    check: areFull,
  },
  // The section of the list of videos does not fix its bounds; chunks that are left out are lost.
  {
    id: { videos: 'VISION-030', continuous: 'VISION-130' },
    ...WHOLE,
    severity: { videos: 'should', continuous: 'must' },
    title: 'the elements are listed oldest first',
    remedy: 'Sort by startTime, then by id: a new recording comes last, and moves no other to another page.',
    check: isOldestFirst,
  },
  {
    id: { videos: 'VISION-045', continuous: 'VISION-152' },
    ...WHOLE,
    title: 'a page past the end has no elements',
    remedy: 'Return an empty list for a page past the end, not the last or the first page again.',
    check: endsEmpty,
  },
  {
    id: { videos: 'VISION-046', continuous: 'VISION-153' },
    ...WHOLE,
    severity: 'should',
    title: 'a page past the end is answered with 200 and an empty list',
    remedy: 'Return 200 and an empty list: the platform reads pages until one is empty.',
    check: endsWithList,
  },
  {
    id: { videos: 'VISION-047', continuous: 'VISION-154' },
    section: QUERY,
    severity: { videos: 'should', continuous: 'must' },
    on: 'Inside',
    needs: [READABLE],
    title: 'an element that begins before the range and ends after it is listed',
    remedy: 'List everything that overlaps the range: startTime before its end, and endTime after its start.',
    check: listsInside,
  },
];
