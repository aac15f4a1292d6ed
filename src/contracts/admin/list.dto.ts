import { Documented } from '../common/fields/documented.js';
import type { DtoClass } from '../common/fields/field.js';
import { BooleanField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { PageQuery, Pagination } from '../common/pagination.dto.js';

const MAX_CURSOR = 512;

/** The place where a list goes on. Exchanges have it without page numbers. */
export const CURSOR = {
  description: '`next` of the previous page, with the same filters',
  min: 1,
  max: MAX_CURSOR,
  optional: true,
} as const;
export const NEXT_CURSOR = {
  description: 'The cursor of the next page; null on the last one',
  max: MAX_CURSOR,
  nullable: true,
  example: null,
} as const;

/** What every list of the admin API takes. Pages are numbered up to row 10,000; a cursor goes on from any page. */
export class ListQuery extends PageQuery {
  @TextField({ ...CURSOR, description: `${CURSOR.description}; not beside \`page\`` })
  cursor?: string;
}

/** Position of a page in a list of the admin API. `page`, `pageSize`, `totalItems` and `totalPages` are always sent. */
export class ListPagination extends Pagination {
  @BooleanField({
    description: 'The list has more rows than `totalItems`, which counts 10,000 at most',
    example: false,
  })
  more!: boolean;

  @TextField(NEXT_CURSOR)
  next!: string | null;
}

/** The id of a resource in a path. */
export class IdParam {
  @UuidField({ description: 'Id of the resource', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  id!: string;
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
    @Documented({ description: 'The elements of this page', type: element, isArray: true, maxItems: 100 })
    data!: unknown[];

    @Documented({ description: 'Position of this page in the list', type: ListPagination })
    pagination!: Required<ListPagination>;
  }
  // The name of the schema in the document.
  Object.defineProperty(Page, 'name', { value: `${element.name}List` });
  return Page;
}
