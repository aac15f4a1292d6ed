import { VIDEO_LISTS } from '../../contracts/vision/vision.api.js';
import { Recording, Video } from '../../contracts/vision/vision.dto.js';
import { ownField } from '../../contracts/common/json.js';
import { valueAt } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { RecordFacts } from '../facts.js';

/** Facts about a list of videos or recordings. */
export interface ListFacts {
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
  const valid = elementsOf(exchange).flatMap((element, i) => facts.add(type, 'list', i, element) ?? []);
  known.set(exchange, { facts, valid });
  return { facts, valid };
}
