import { Controller, Query } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { SearchQuery } from '../../contracts/admin/search.routes.js';
import { Search } from './search.service.js';

/** The search field of the console. */
@Controller()
export class SearchController {
  constructor(private readonly search: Search) {}

  @Route(ADMIN_API, 'search')
  find(@Query() { q }: SearchQuery) {
    return this.search.find(q);
  }
}
