/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument
   -- a mutant breaks the types of the contract on purpose */
import type { KitAnswer } from '../../../src/conformance/exchange.js';
import { type Body, type Change, type Mutant, on } from './mutant.js';

/** Servers whose list is faulty across its pages, or from one call to the next. */

const ELEMENTS = 6;
const MINUTE_MS = 60_000;

interface Asked {
  readonly list: 'videos' | 'continuous';
  /** `All` and `Repeat` are read in pages of one element, `Again` in one page; `Inside` asks for a range within one element. */
  readonly kind: 'All' | 'Repeat' | 'Again' | 'Inside';
  readonly page: number;
}

interface Served {
  readonly elements?: Body[];
  readonly totals?: { readonly totalItems?: number; readonly totalPages?: number };
  /** Of another answer than the page. */
  readonly answer?: KitAnswer;
}

function askedBy(plan: string): Asked {
  const [, list, kind, page = '1'] = /^(videos|continuous)(All|Repeat|Again|Inside)(?: (\d+))?$/.exec(plan) ?? [];
  return { list, kind, page: Number(page) } as Asked;
}

/** Some elements of one minute each, made of one that our server lists. */
function elementsFrom(others: ReadonlyMap<string, KitAnswer>, list: string): { body: Body; elements: Body[] } {
  const body: Body = JSON.parse((others.get(`${list}Again`) as KitAnswer).body.toString('utf8'));
  const [first] = body.data.videos ?? body.data.recordings;
  const start = Date.parse(first.startTime);
  const elements = Array.from({ length: ELEMENTS }, (_, i) => ({
    ...first,
    id: `e${i}`,
    startTime: new Date(start + i * MINUTE_MS).toISOString(),
    endTime: new Date(start + (i + 1) * MINUTE_MS).toISOString(),
    durationSeconds: 60,
  }));
  return { body, elements };
}

const isSmallPage = ({ kind }: Asked) => kind === 'All' || kind === 'Repeat';

function overlapping(elements: Body[], url: string): Body[] {
  const { searchParams } = new URL(url);
  const [from = NaN, to = NaN] = ['startTime', 'endTime'].map((name) => Date.parse(searchParams.get(name) ?? ''));
  return elements.filter((each) => Date.parse(each.endTime) > from && Date.parse(each.startTime) < to);
}

/** A server of these elements, with one fault. */
const serving =
  (fault: (page: Body[], asked: Asked, all: Body[]) => Served): Change =>
  (answer, others, plan, url) => {
    const asked = askedBy(plan);
    const { body, elements } = elementsFrom(others, asked.list);
    const size = isSmallPage(asked) ? 1 : 100;
    const page = elements.slice((asked.page - 1) * size, asked.page * size);
    const served = fault(page, asked, elements);
    const listed = asked.kind === 'Inside' ? overlapping(served.elements ?? page, url) : (served.elements ?? page);
    const totalItems = asked.kind === 'Inside' ? listed.length : ELEMENTS;
    body.data[asked.list === 'videos' ? 'videos' : 'recordings'] = listed;
    const pagination = { page: asked.page, pageSize: size, totalItems, totalPages: Math.ceil(totalItems / size) };
    body.data.pagination = { ...pagination, ...(asked.kind === 'Inside' ? {} : served.totals) };
    return served.answer ?? { ...answer, status: 200, body: Buffer.from(JSON.stringify(body)) };
  };

const backwards = (element: Body): Body => ({ ...element, startTime: element.endTime, endTime: element.startTime });

const pageOf = (all: Body[], { kind, page }: Asked): Body[] =>
  kind === 'All' || kind === 'Repeat' ? all.slice(page - 1, page) : page === 1 ? all : [];

/** Each row: the id of the rule, and the fault. */
export function readingMutants(list: 'videos' | 'continuous'): Mutant[] {
  const id = (videos: string, continuous: string) => ({ videos, continuous })[list];
  const refused = (status: number): KitAnswer => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"success":false,"error":{"code":"NOT_FOUND","message":"no such page"}}'),
  });
  return on(new RegExp(`^${list}(All|Repeat|Again|Inside)`), [
    // A correct server.
    ['', serving(() => ({}))],
    // Totals that count the page only.
    [id('VISION-036', 'VISION-136'), serving((page) => ({ totals: { totalItems: page.length, totalPages: 1 } }))],
    [
      id('VISION-036', 'VISION-136'),
      serving(() => ({ totals: { totalItems: ELEMENTS + 3, totalPages: ELEMENTS + 3 } })),
    ],
    // The last element is lost.
    [
      id('VISION-036', 'VISION-136'),
      serving((_, asked) => (isSmallPage(asked) && asked.page === ELEMENTS ? { elements: [] } : {})),
    ],
    [id('VISION-037', 'VISION-137'), serving(() => ({ totals: { totalPages: 2 } }))],
    [
      id('VISION-037', 'VISION-137'),
      serving((_, { kind }) => ({ totals: { totalPages: kind === 'All' ? ELEMENTS + 1 : 1 } })),
    ],
    [
      id('VISION-038', 'VISION-138'),
      serving((_, { page }) => ({ totals: { totalItems: ELEMENTS + (page > 1 ? 1 : 0) } })),
    ],
    // Newest first, in each page or across all.
    [id('VISION-030', 'VISION-130'), serving((_, asked, all) => ({ elements: pageOf(all.toReversed(), asked) }))],
    [
      id('VISION-030', 'VISION-130'),
      serving((page, { kind }) => ({ elements: kind === 'Again' ? page.toReversed() : page })),
    ],
    // In another order at each call.
    [
      id('VISION-029', 'VISION-129'),
      serving((_, { kind, page }, all) =>
        kind === 'Repeat' && page <= ELEMENTS ? { elements: [all[(page * 5) % ELEMENTS]] } : {},
      ),
    ],
    // A recording that a later list lacks.
    [
      id('VISION-029', 'VISION-129'),
      serving((_, { kind, page }) => (kind === 'Repeat' && page === 2 ? { elements: [] } : {})),
    ],
    [
      id('VISION-027', 'VISION-127'),
      serving((page, { kind }) => ({ elements: kind === 'Again' ? page.slice(1) : page })),
    ],
    // New ids in each list.
    [
      id('VISION-039', 'VISION-139'),
      serving((page, { kind }) => ({ elements: page.map((each) => ({ ...each, id: `${each.id}-${kind}` })) })),
    ],
    // One id on two pages.
    [
      id('VISION-028', 'VISION-128'),
      serving((page) => ({ elements: page.map((each) => ({ ...each, id: each.id === 'e3' ? 'e2' : each.id })) })),
    ],
    // On a later page.
    [
      id('VISION-021', 'VISION-121'),
      serving((page) => ({ elements: page.map((each) => (each.id === 'e2' ? backwards(each) : each)) })),
    ],
    [
      id('VISION-023', 'VISION-123'),
      serving((page) => ({
        elements: page.map((each) => (each.id === 'e2' ? { ...each, customerId: 'other' } : each)),
      })),
    ],
    ...(list === 'continuous'
      ? ([
          [
            'VISION-462',
            serving((page, _, all) => ({
              elements: page.map((each) => (each.id === 'e3' ? { ...all[2], id: 'e3' } : each)),
            })),
          ],
        ] as const)
      : []),
    [
      id('VISION-045', 'VISION-152'),
      serving((page, { kind }, all) => (kind === 'All' && page.length === 0 ? { elements: [all.at(-1)] } : {})),
    ],
    [
      id('VISION-046', 'VISION-153'),
      serving((page, { kind }) => (kind === 'All' && page.length === 0 ? { answer: refused(404) } : {})),
    ],
    [
      id('VISION-026', 'VISION-126'),
      serving((_, { kind, page }) => (kind === 'All' && page === 3 ? { answer: refused(404) } : {})),
    ],
    [id('VISION-027', 'VISION-127'), serving((_, { kind }) => (kind === 'Again' ? { answer: refused(500) } : {}))],
    // Chunks that only overlap the range.
    [id('VISION-047', 'VISION-154'), serving((_, { kind }) => (kind === 'Inside' ? { elements: [] } : {}))],
    // Divided into pages first, and filtered then.
    [
      id('VISION-048', 'VISION-155'),
      serving((page, asked, all) => ({
        totals: { totalPages: ELEMENTS - 1 },
        elements: !isSmallPage(asked)
          ? page
          : asked.page === 1
            ? all.slice(0, 2)
            : all.slice(asked.page, asked.page + 1),
      })),
    ],
  ]);
}
