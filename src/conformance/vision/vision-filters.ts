import { ownField } from '../../contracts/common/json.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { shown, statusFault } from '../checks.js';
import { type Exchange, UnprovenError } from '../exchange.js';
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
import { countOf, differs, everyElement, everyListed, liesOutside, queryValue, readingOf } from './vision-reading.js';
import { ANSWER, elementsOf, LISTED, listFacts, type ListName, type ListRule, QUERY } from './vision-facts.js';

/** Rules of lists with a filter: what a filter leaves out, what it must not leave out, and the totals of what it leaves. */

const PAGE_SIZE = 20;
const FILTERS = ['truckId', 'cameraId'] as const;
/** The requests of each list that have a filter. */
const FILTERED: Readonly<Record<ListName, readonly string[]>> = {
  videos: ['OfTruck', 'OfCamera', 'InRange', 'Inside', 'Nowhere', 'NowhereOfCamera'],
  continuous: ['OfCamera', 'Inside', 'Nowhere', 'NowhereOfCamera'],
  clip: [],
};
/** The requests with another pageSize. */
const SIZED = ['Page1', 'Page2', 'FullPage'];

/** The list of a filter whose value was taken from an element: it has that element. */
const filtered =
  (faultOf: (element: Recording, exchange: Exchange) => string | undefined) =>
  (exchange: Exchange): Verdict => {
    const fault = statusFault(exchange, 200);
    if (fault !== undefined) return failed(fault);
    if (elementsOf(exchange).length === 0)
      return failed('the list is empty, although an element of the list without the filter matches');
    return everyElement(faultOf)(exchange);
  };

const isOf =
  (name: 'truckId' | 'cameraId') =>
  (element: Recording, exchange: Exchange): string | undefined =>
    differs(name, element[name], exchange);

/** A filter may leave out only what does not match. The first page is enough, and a full one may go on. */
async function keepsMatches(exchange: Exchange, run: Exchanges, list: ListName): Promise<Verdict> {
  const fault = statusFault(exchange, 200);
  if (fault !== undefined) return notProven(fault);
  const matches = listFacts(await run.exchange(list)).valid.filter((element) =>
    FILTERS.every((name) => differs(name, element[name], exchange) === undefined),
  );
  const listed = elementsOf(exchange).map((element) => ownField(element, 'id'));
  const missing = matches.find(({ id }) => !listed.includes(id));
  if (missing === undefined || listed.length >= PAGE_SIZE) return passed;
  return failed(`${shown(missing.id)} is not listed, although it matches the filter`);
}

const listsNothing = (exchange: Exchange): Verdict => {
  const { length } = elementsOf(exchange);
  return passedIf(length === 0, `the list has ${length} elements`);
};

const isEmptyAnswer = (exchange: Exchange): Verdict =>
  exchange.status === 404
    ? failed('the status is 404, although the truck is known: expected 200 and an empty list')
    : passedUnless(statusFault(exchange, 200));

/** The lists of some requests. One that cannot be sent shows nothing. */
async function listsOf(run: Exchanges, list: ListName, requests: readonly string[]): Promise<Exchange[]> {
  const lists: Exchange[] = [];
  for (const name of requests) {
    try {
      lists.push(await run.exchange(`${list}${name}`));
    } catch (error) {
      if (!(error instanceof UnprovenError)) throw error;
    }
  }
  return lists.filter(({ status }) => status === 200);
}

function totalItemsFault(exchange: Exchange): string | undefined {
  const [total, { length }] = [countOf(exchange, 'totalItems'), elementsOf(exchange)];
  const size = sizeOf(exchange);
  if (total === undefined || (length < size ? total === length : total >= length)) return undefined;
  const { search } = new URL(exchange.request.url);
  return `totalItems is ${total}, the only page has ${length} elements: ${search}`;
}

async function countsMatches(_: Exchange, run: Exchanges, list: ListName): Promise<Verdict> {
  const lists = await listsOf(run, list, FILTERED[list]);
  if (!lists.some((each) => countOf(each, 'totalItems') !== undefined))
    return notApplicable('the lists have no totals');
  return passedUnless(lists.map(totalItemsFault).find((fault) => fault !== undefined));
}

const sizeOf = (page: Exchange): number =>
  countOf(page, 'pageSize') ?? Number(queryValue(page, 'pageSize') ?? PAGE_SIZE);

/** By the pageSize of the request, or by the one that the answer names. Some servers count an empty list as one page. */
function totalPagesFault(page: Exchange): string | undefined {
  const [items, pages] = [countOf(page, 'totalItems'), countOf(page, 'totalPages')];
  if (items === undefined || pages === undefined || (items === 0 && pages === 1)) return undefined;
  const sizes = [Number(queryValue(page, 'pageSize') ?? PAGE_SIZE), sizeOf(page)];
  return sizes.some((size) => pages === Math.ceil(items / size))
    ? undefined
    : `totalPages is ${pages}, and there are ${items} elements in pages of ${sizes[0]}`;
}

async function dividesByPageSize(_: Exchange, run: Exchanges, list: ListName): Promise<Verdict> {
  const readings = await Promise.all(['All', 'Again'].map((name) => readingOf(run, `${list}${name}`)));
  const lists = [
    ...readings.flatMap(({ pages }) => pages),
    ...(await listsOf(run, list, [...SIZED, ...FILTERED[list]])),
  ];
  if (!lists.some((each) => countOf(each, 'totalPages') !== undefined))
    return notApplicable('the lists have no totals');
  return passedUnless(lists.map(totalPagesFault).find((fault) => fault !== undefined));
}

const hasNoTwins = async (_: Exchange, run: Exchanges, list: ListName): Promise<Verdict> => {
  const idOf = new Map<string, unknown>();
  for (const { id, key, page } of (await readingOf(run, `${list}All`)).elements) {
    const other = idOf.get(key);
    if (other !== undefined) return failed(`${shown(id)} of page ${page} is the recording ${shown(other)}: ${key}`);
    idOf.set(key, id);
  }
  return passed;
};

const NOTHING_RECORDED = 'List what overlaps the range only: startTime before its end, and endTime after its start.';
const KNOWN =
  'Answer 404 where the customer, the truck or the camera is unknown, and 200 with an empty list where nothing was recorded.';
const PAGES_COUNTED = { videos: 'VISION-037', continuous: 'VISION-137' } as const;
const SAME_TOTALS = { videos: 'VISION-038', continuous: 'VISION-138' } as const;
const FULL_PAGES = { videos: 'VISION-048', continuous: 'VISION-155' } as const;
const NO_REPEATS = { videos: 'VISION-028', continuous: 'VISION-128' } as const;

const FILTER = { section: QUERY, severity: 'must' } as const;

export const FILTER_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-040' },
    ...FILTER,
    on: 'OfTruck',
    title: 'truckId filters the list of videos',
    remedy: 'List the videos of that truck only.',
    check: filtered(isOf('truckId')),
  },
  {
    id: { videos: 'VISION-042' },
    ...FILTER,
    on: 'InRange',
    title: 'startTime and endTime filter the list of videos',
    remedy: 'List the videos that overlap the range only.',
    check: filtered(liesOutside),
  },
  {
    id: { continuous: 'VISION-140' },
    ...FILTER,
    needs: [LISTED],
    title: 'every recording is of the requested truck',
    remedy: 'List the recordings of that truck only.',
    check: everyListed(isOf('truckId')),
  },
  {
    id: { continuous: 'VISION-141' },
    ...FILTER,
    needs: [LISTED],
    title: 'every recording overlaps the requested range',
    remedy: 'List the recordings that overlap the range only.',
    check: everyListed(liesOutside),
  },
  {
    id: { videos: 'VISION-041', continuous: 'VISION-142' },
    ...FILTER,
    on: 'OfCamera',
    title: { videos: 'cameraId filters the list of videos', continuous: 'cameraId filters the recordings' },
    remedy: { videos: 'List the videos of that camera only.', continuous: 'List the recordings of that camera only.' },
    check: filtered(isOf('cameraId')),
  },
  {
    id: { videos: 'VISION-400' },
    ...FILTER,
    on: 'OfTruck',
    needs: [LISTED],
    title: 'a list of one truck has every video of that truck',
    remedy: 'Leave out the videos of other trucks only.',
    check: keepsMatches,
  },
  {
    id: { videos: 'VISION-401', continuous: 'VISION-451' },
    ...FILTER,
    on: 'OfCamera',
    needs: [LISTED],
    title: 'a list of one camera has every element of that camera',
    remedy: 'Compare cameraId with the name that the list shows, and leave out the elements of other cameras only.',
    check: keepsMatches,
  },
  {
    id: { videos: 'VISION-402', continuous: 'VISION-452' },
    ...FILTER,
    on: 'Inside',
    needs: [LISTED],
    title: 'a list of a narrow range has only what overlaps it',
    remedy: NOTHING_RECORDED,
    check: everyElement(liesOutside),
  },
  {
    id: { videos: 'VISION-403', continuous: 'VISION-453' },
    ...FILTER,
    on: 'Nowhere',
    title: 'a known truck without footage in the range is answered with 200',
    remedy: KNOWN,
    check: isEmptyAnswer,
  },
  {
    id: { videos: 'VISION-405', continuous: 'VISION-455' },
    ...FILTER,
    on: 'Nowhere',
    title: 'the list of a range without footage is empty',
    remedy: NOTHING_RECORDED,
    check: listsNothing,
  },
  {
    id: { videos: 'VISION-406', continuous: 'VISION-456' },
    ...FILTER,
    on: 'NowhereOfCamera',
    title: 'a known camera without footage in the range is answered with 200',
    remedy: KNOWN,
    check: isEmptyAnswer,
  },
  {
    id: { videos: 'VISION-407', continuous: 'VISION-457' },
    ...FILTER,
    on: 'NowhereOfCamera',
    title: 'the list of a camera and of a range without footage is empty',
    remedy: NOTHING_RECORDED,
    check: listsNothing,
  },
  {
    id: { videos: 'VISION-408' },
    ...FILTER,
    on: 'OfUnknownRequest',
    needs: [LISTED],
    title: 'the list of an unknown requestId has no videos',
    remedy: 'List the videos of that request only, and none if there is no such request.',
    check: (exchange) => {
      const fault = statusFault(exchange, 200, 400, 404);
      return fault === undefined ? listsNothing(exchange) : failed(fault);
    },
  },
  {
    id: { videos: 'VISION-409', continuous: 'VISION-459' },
    section: ANSWER,
    severity: 'must',
    on: 'OfCamera',
    needs: [LISTED],
    title: 'totalItems of a list with a filter counts the elements that match',
    remedy: 'Filter first, then count.',
    check: countsMatches,
  },
  {
    id: { videos: 'VISION-410', continuous: 'VISION-460' },
    section: ANSWER,
    severity: 'must',
    on: 'Again',
    needs: [PAGES_COUNTED, SAME_TOTALS, FULL_PAGES],
    title: 'totalPages is totalItems divided by the pageSize of the request, for every pageSize',
    remedy: 'Compute totalPages from totalItems and from the pageSize of the same request.',
    check: dividesByPageSize,
  },
  {
    id: { continuous: 'VISION-462' },
    ...FILTER,
    on: 'All',
    needs: [NO_REPEATS],
    title: 'no recording is listed twice with different ids',
    remedy: 'List each recording once: the platform recognises it by its id, or by truck, camera and range.',
    check: hasNoTwins,
  },
];
