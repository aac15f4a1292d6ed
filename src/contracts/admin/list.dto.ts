import { Documented } from '../common/fields/documented.js';
import type { DtoClass } from '../common/fields/field.js';
import { UuidField } from '../common/fields/scalar-fields.js';
import { Pagination } from '../common/pagination.dto.js';

/** The id of a resource in a path. */
export class IdParam {
  @UuidField({ description: 'Id of the resource', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  id!: string;
}

/** One page of a list of the admin API. */
export interface List<T> {
  readonly data: T[];
  readonly pagination: Required<Pagination>;
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

    @Documented({ description: 'Position of this page in the list', type: Pagination })
    pagination!: Required<Pagination>;
  }
  // The name of the schema in the document.
  Object.defineProperty(Page, 'name', { value: `${element.name}List` });
  return Page;
}
