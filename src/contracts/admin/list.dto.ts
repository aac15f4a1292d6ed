import type { DtoClass } from '../common/fields/field.js';
import { Flag, Nested, NestedList, Uuid } from '../common/fields/decorators.js';
import { example } from '../common/fields/options.js';
import { PageQuery, Pagination } from '../common/pagination.dto.js';
import { Cursor, HAULER, NextCursor } from './fields.js';

/** What every list of the admin API takes. Pages are numbered up to row 10,000; a cursor goes on from any page. */
export class ListQuery extends PageQuery {
  @Cursor('; not beside `page`') cursor?: string;
}

/** Position of a page in a list of the admin API. `page`, `pageSize`, `totalItems` and `totalPages` are always sent. */
export class ListPagination extends Pagination {
  @Flag('The list has more rows than `totalItems`, which counts 10,000 at most', example(false)) more!: boolean;
  @NextCursor() next!: string | null;
}

/** The id of a resource in a path. */
export class IdParam {
  @Uuid('Id of the resource', example(HAULER)) id!: string;
}

/** One page of a list of the admin API. */
export interface List<T> {
  readonly data: T[];
  readonly pagination: Required<ListPagination>;
}

const lists = new Map<DtoClass, DtoClass<List<unknown>>>();

/** The class that documents a list of these elements: `@ApiOkResponse({ type: listOf(Hauler) })`. */
export function listOf<T extends object>(element: DtoClass<T>): DtoClass<List<T>> {
  let list = lists.get(element);
  if (list === undefined) {
    list = defineList(element);
    lists.set(element, list);
  }
  return list as DtoClass<List<T>>;
}

function defineList(element: DtoClass): DtoClass<List<unknown>> {
  class Page implements List<unknown> {
    @NestedList('The elements of this page', element) data!: unknown[];
    @Nested('Position of this page in the list', ListPagination) pagination!: Required<ListPagination>;
  }
  // The name of the schema in the document.
  Object.defineProperty(Page, 'name', { value: `${element.name}List` });
  return Page;
}
