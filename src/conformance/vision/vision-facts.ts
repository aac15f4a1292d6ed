import { type Exchange, UnprovenError } from '../exchange.js';
import type { Exchanges, Rule, Verdict } from '../rule.js';
import { Recording, Video, VIDEO_LISTS } from '../../contracts/vision/vision.api.js';
import { ownField } from '../../contracts/common/json.js';
import { valueAt } from '../checks.js';
import { RecordFacts } from '../facts.js';

/** One declaration of a rule that several lists have. */

/** The name of the request of a list: clips, recordings, and the clips of one request. */
export type ListName = 'videos' | 'continuous' | 'clip';

/** A value for each list that has the rule. */
type PerList<T> = Readonly<Partial<Record<ListName, T>>>;

export interface ListRule {
  /** A list without an id does not have the rule. */
  readonly id: PerList<string>;
  readonly section: PerList<string> | string;
  readonly severity: PerList<Rule['severity']> | Rule['severity'];
  /** The other request that the rule is about: this follows the name of the list. */
  readonly on?: string;
  readonly needs?: readonly PerList<string>[];
  readonly title: PerList<string> | string;
  readonly remedy: PerList<string> | string;
  readonly check: (exchange: Exchange, run: Exchanges, list: ListName) => Verdict | Promise<Verdict>;
}

/** The section of the answer, and that of the query. */
export const ANSWER = { videos: '4.5', continuous: '2.6', clip: '4.5' } as const;
export const QUERY = { videos: '4.5', continuous: '4.6', clip: '4.5' } as const;
/** The rule that the answer has a list. */
export const LISTED = { videos: 'VISION-005', continuous: 'VISION-105', clip: 'VISION-305' } as const;

/** The ids of a rule that all lists have. */
export const ids = (videos: string, continuous: string, clip: string): PerList<string> => ({
  videos,
  continuous,
  clip,
});

const OPERATIONS = { videos: 'listVideos', continuous: 'listContinuous', clip: 'listVideos' } as const;

const valueFor = <T extends string>(list: ListName, value: PerList<T> | T): T => {
  const own = typeof value === 'object' ? value[list] : value;
  if (own === undefined) throw new Error(`a rule of the list ${list} lacks a value for it`);
  return own;
};

export const rulesOfList = (list: ListName, rules: readonly ListRule[]): Rule[] =>
  rules.flatMap(({ id, section, severity, on = '', needs = [], title, remedy, check }) =>
    id[list] === undefined
      ? []
      : [
          {
            id: id[list],
            section: valueFor(list, section),
            severity: valueFor(list, severity),
            operation: OPERATIONS[list],
            on: `${list}${on}`,
            needs: needs.map((each) => valueFor(list, each)),
            title: valueFor(list, title),
            remedy: valueFor(list, remedy),
            check: (exchange, run) => check(exchange, run, list),
          },
        ],
  );

/** Facts about a list of videos or recordings. */
interface ListFacts {
  readonly facts: RecordFacts;
  /** The elements without a fault. */
  readonly valid: readonly Recording[];
}

/** The name of the list and its elements. Partners send it under one of several names (decision 38). */
export function listOf(
  exchange: Exchange,
): { readonly name: string; readonly elements: readonly unknown[] } | undefined {
  const data = ownField(exchange.json, 'data');
  const names = exchange.request.operation === 'listVideos' ? VIDEO_LISTS : (['recordings'] as const);
  const name = names.find((each) => Array.isArray(ownField(data, each)));
  return name === undefined ? undefined : { name, elements: ownField(data, name) as unknown[] };
}

/** The path of the list. */
export const pathOf = (exchange: Exchange): string => `data.${listOf(exchange)?.name ?? 'videos'}`;

const LISTS = { videos: 'videos', continuous: 'recordings', clip: 'the requested clip' } as const;

/** Why a request cannot name an element of a list. */
export const withoutElements = (list: ListName, { status }: Exchange): UnprovenError =>
  new UnprovenError(`the list of ${LISTS[list]} ${status === 200 ? 'is empty' : 'is not answered with 200'}`);

export const elementsOf = (exchange: Exchange): readonly unknown[] => listOf(exchange)?.elements ?? [];

/** The pagination, which is a member of `data` or of the body. */
export const paginationOf = (exchange: Exchange): unknown =>
  valueAt(exchange.json, 'data.pagination') ?? valueAt(exchange.json, 'pagination');

const known = new WeakMap<Exchange, ListFacts>();

export function listFacts(exchange: Exchange): ListFacts {
  const earlier = known.get(exchange);
  if (earlier !== undefined) return earlier;
  const facts = new RecordFacts();
  const type = exchange.request.operation === 'listVideos' ? Video : Recording;
  const valid = elementsOf(exchange).flatMap((element, i) => facts.add(type, pathOf(exchange), i, element) ?? []);
  known.set(exchange, { facts, valid });
  return { facts, valid };
}
