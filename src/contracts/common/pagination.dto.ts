import { IntegerField } from './fields/scalar-fields.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** `page` and `pageSize` of every list (section 8, decision 43). */
export class PageQuery {
  @IntegerField({
    description: 'Page number, from 1',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    orMore: true,
    default: 1,
    optional: true,
    inQuery: true,
  })
  page?: number;

  @IntegerField({
    description: 'Items per page',
    min: 1,
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    optional: true,
    inQuery: true,
  })
  pageSize?: number;
}

/** Position of a page in its list (section 2.6). */
export class Pagination {
  @IntegerField({
    description: 'Current page number',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    optional: true,
    example: 1,
  })
  page?: number;

  @IntegerField({ description: 'Items per page', min: 0, max: Number.MAX_SAFE_INTEGER, optional: true, example: 20 })
  pageSize?: number;

  @IntegerField({
    description: 'Items across all pages',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    optional: true,
    example: 137,
  })
  totalItems?: number;

  @IntegerField({ description: 'Number of pages', min: 0, max: Number.MAX_SAFE_INTEGER, optional: true, example: 7 })
  totalPages?: number;
}

export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
}

export function pageRequest(query: PageQuery): PageRequest {
  const page = query.page ?? 1;
  const pageSize = query.pageSize ?? DEFAULT_PAGE_SIZE;
  return { page, pageSize, offset: (page - 1) * pageSize };
}

export function paginationOf(request: PageRequest, totalItems: number): Required<Pagination> {
  return {
    page: request.page,
    pageSize: request.pageSize,
    totalItems,
    totalPages: Math.ceil(totalItems / request.pageSize),
  };
}
