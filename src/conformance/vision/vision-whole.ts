import { serverRules, shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import {
  type Exchanges,
  failed,
  notApplicable,
  notProven,
  passed,
  passedIf,
  passedUnless,
  type Rule,
} from '../rule.js';
import { elementsOf, listOf } from './vision-facts.js';
import { idsOf, type ListNames, visionId } from './vision-lists.js';
import {
  countOf,
  insideOf,
  keyOf,
  type Listed,
  promisedPages,
  type Reading,
  readingOf,
  type ReadingName,
} from './vision-reading.js';

/** Rules of a list that is read twice, with all its pages: ids, order and totals. */

type Check = Rule['check'];

const named = ({ id, page }: Listed): string => `element ${shown(id)} of page ${page}`;

/** Pages within `totalPages`, and the first one, must be lists. */
const isReadable =
  (name: string): Check =>
  async (_, run) => {
    const { pages, past } = await readingOf(run, name);
    if (past === undefined || (pages.length > 0 && pages.length >= promisedPages(pages))) return passed;
    const fault = statusFault(past, 200) ?? (listOf(past) === undefined ? 'the answer is no list' : undefined);
    return passedUnless(fault && `page ${pages.length + 1}: ${fault}`);
  };

const itemsFault = ({ pages, elements, past }: Reading): string | undefined => {
  const total = pages[0] && countOf(pages[0], 'totalItems');
  if (total === undefined || total === elements.length || (past === undefined && total > elements.length))
    return undefined;
  return `totalItems of page 1 is ${total}, all pages have ${elements.length}${past === undefined ? ' or more' : ''} elements`;
};

const noTotals = notApplicable('the pages have no totals');
const unfinished = notProven('the list has more pages than the kit reads');
const otherFault = notProven('totalItems is not the number of elements');

/** A check of the totals. */
const totals =
  (name: string, faultOf: (reading: Reading) => string | undefined, isOfItems = false): Check =>
  async (_, run) => {
    const reading = await readingOf(run, name);
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

const hasNoRepeats =
  (name: string): Check =>
  async (_, run) => {
    const { elements } = await readingOf(run, name);
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
const isOldestFirst: Check = async (exchange, run) => {
  const readings = await readingsOf(exchange, run, 'All', 'Again');
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
const isSameAgain: Check = async (exchange, run) => {
  const [before, after] = await readingsOf(exchange, run, 'All', 'Repeat');
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
const hasTheSameElements =
  (name: string): Check =>
  async (exchange, run) => {
    const readable = await isReadable(name)(exchange, run);
    if (readable.outcome !== 'passed') return readable;
    return passedUnless(missingFault(...(await readingsOf(exchange, run, 'All', 'Again'))));
  };

/** Several elements may have one range, such as the clips of two requests. */
const hasSameIds: Check = async (exchange, run) => {
  const before = idsByKey((await readingsOf(exchange, run, 'All', 'All'))[0].elements);
  for (const { elements } of await readingsOf(exchange, run, 'Repeat', 'Again')) {
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
  { request: { operation } }: Exchange,
  run: Exchanges,
  ...names: [first: ReadingName, second: ReadingName]
): Promise<[Reading, Reading]> => {
  const list = operation === 'listVideos' ? 'videos' : 'continuous';
  return Promise.all([readingOf(run, list + names[0]), readingOf(run, list + names[1])]);
};

const endsEmpty =
  (name: string): Check =>
  async (_, run) => {
    const { pages, past } = await readingOf(run, name);
    if (past === undefined) return unfinished;
    const { length } = elementsOf(past);
    return passedIf(length === 0, `page ${pages.length + 1}, past the end, has ${length} elements of earlier pages`);
  };

const endsWithList =
  (name: string): Check =>
  async (_, run) => {
    const { pages, past } = await readingOf(run, name);
    if (past === undefined) return unfinished;
    const fault = statusFault(past, 200);
    return passedUnless(fault && `page ${pages.length + 1}, past the end: ${fault}`);
  };

const areFull =
  (name: string): Check =>
  async (exchange, run) => {
    const { pages, past } = await readingOf(run, name);
    const asked = Number(new URL(exchange.request.url).searchParams.get('pageSize'));
    const others = past === undefined ? pages : pages.slice(0, -1);
    const sizeOf = (page: Exchange) => countOf(page, 'pageSize') ?? asked;
    const i = others.findIndex((page) => elementsOf(page).length !== sizeOf(page));
    const page = others[i];
    return passedUnless(
      page && `page ${i + 1} of ${pages.length} has ${elementsOf(page).length} elements, pageSize is ${sizeOf(page)}`,
    );
  };

const listsInside =
  (list: 'videos' | 'continuous'): Check =>
  async (exchange, run) => {
    const fault = statusFault(exchange, 200);
    if (fault !== undefined) return failed(fault);
    const { element, range } = await insideOf(run, list);
    const keys = elementsOf(exchange).map(keyOf);
    const asked = `${range['startTime'] ?? ''} to ${range['endTime'] ?? ''}`;
    return passedIf(keys.includes(element.key), `${element.key} is not listed for ${asked}, which lies within it`);
  };

/** Numbers 25 to 29, 35 to 38 and four of `ids`, of a block. Each reading has an empty page, or a refusal, at its end. */
export function wholeRules({ on, operation, first, section }: ListNames, ids: readonly string[]): Rule[] {
  const [read, again, repeats, same, order] = idsOf(first, 25);
  const [items, pages, change, stable] = idsOf(first, 35);
  const [end = '', endList = '', inside = '', full = ''] = ids;
  const [all, repeat, second] = [`${on}All`, `${on}Repeat`, `${on}Again`];
  const isVideos = operation === 'listVideos';
  // The bounds of the list of videos are not fixed by its section; chunks that are left out are lost.
  const level = isVideos ? 'should' : 'must';
  const row = (name: string, needs: string) => `${section} | ${operation} | ${name} | ${needs}`;
  const needed = `${visionId(first + 4)} ${repeats}`;
  return serverRules(
    `
${read} | must | ${row(all, visionId(first + 4))} | every page of a range is answered with a list | Answer each page up to totalPages with 200.
${same} | must | ${row(repeat, read)} | pages that are read twice have the same elements in the same order | Sort by startTime, then by id, in the query itself: without an order, elements are repeated or lost between pages.
${again} | must | ${row(second, same)} | pages of 100 elements have the same elements as smaller pages | Accept a pageSize from 1 to 100, and skip (page - 1) times pageSize elements.
${stable} | must | ${row(second, read)} | a recording keeps its id from one list to the next | Store the id of each recording: do not create it for the answer.
${repeats} | must | ${row(all, `${visionId(first + 4)} ${same}`)} | no element is listed on two pages | Skip the elements of earlier pages, in a stable order.
${items} | must | ${row(all, `${needed} ${visionId(first + 34)}`)} | totalItems is the number of elements of all pages together | Count all elements that match the request, not those of the page.
${pages} | must | ${row(all, needed)} | totalPages is the number of pages with elements | Divide the number of all elements by pageSize, and round up.
${change} | must | ${row(all, needed)} | every page has the same totals | Send the totals of the whole list with each page.
${full} | should | ${row(all, needed)} | every page but the last is full | Filter first, then divide into pages.
${order} | ${level} | ${row(all, needed)} | the elements are listed oldest first | Sort by startTime, then by id: a new recording comes last, and moves no other to another page.
${end} | must | ${row(all, needed)} | a page past the end has no elements | Return an empty list for a page past the end, not the last or the first page again.
${endList} | should | ${row(all, needed)} | a page past the end is answered with 200 and an empty list | Return 200 and an empty list: the platform reads pages until one is empty.
${inside} | ${level} | ${row(`${on}Inside`, read)} | an element that begins before the range and ends after it is listed | List everything that overlaps the range: startTime before its end, and endTime after its start.
`,
    {
      [read]: isReadable(all),
      [again]: hasTheSameElements(second),
      [same]: isSameAgain,
      [stable]: hasSameIds,
      [items]: totals(all, itemsFault, true),
      [pages]: totals(all, pagesFault),
      [change]: totals(all, changeFault),
      [full]: areFull(all),
      [repeats]: hasNoRepeats(all),
      [order]: isOldestFirst,
      [end]: endsEmpty(all),
      [endList]: endsWithList(all),
      [inside]: listsInside(isVideos ? 'videos' : 'continuous'),
    },
  )();
}
