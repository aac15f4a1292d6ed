import { type AdminRoutes, FOR_VIEWERS, route } from './route-helpers.js';
import { SearchQuery, SearchResults } from './search.dto.js';

/** One look for all that has a number, a name or an id. */
export const SEARCH_ROUTES = {
  search: route(FOR_VIEWERS, 'GET', '/search', {
    summary: 'Find a thing by its number, name or id',
    description:
      'Numbers, trucks and ids are compared whole, in upper and lower case too; names of accounts and haulers by any part of them. A refused push is found by the ticket number that it named, while its exchange is kept.',
    query: SearchQuery,
    response: SearchResults,
    returns: 'What was found',
  }),
} as const satisfies AdminRoutes;
