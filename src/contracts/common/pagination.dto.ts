import { Integer } from './fields/decorators.js';
import { example, inQuery, min, optional, between } from './fields/options.js';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export const PageSize = () =>
  Integer('Items per page', between(1, MAX_PAGE_SIZE), { default: DEFAULT_PAGE_SIZE }, inQuery, optional);

/** `page` and `pageSize` of every list (section 8, decision 43). */
export class PageQuery {
  @Integer('Page number, from 1', min(1), { orMore: true, default: 1 }, inQuery, optional) page?: number;
  @PageSize() pageSize?: number;
}

/** Position of a page in its list (section 2.6). */
export class Pagination {
  @Integer('Current page number', optional, example(1)) page?: number;
  @Integer('Items per page', optional, example(20)) pageSize?: number;
  @Integer('Items across all pages', optional, example(137)) totalItems?: number;
  @Integer('Number of pages', optional, example(7)) totalPages?: number;
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
