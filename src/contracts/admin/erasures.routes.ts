import { CreateErasure, Erasure, ERASURE_EXAMPLES, ErasureQuery } from './erasure.dto.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, list, one, route } from './route-helpers.js';

/** Erasure of an account or of footage by request. */
export const ERASURE_ROUTES = {
  createErasure: route(FOR_ADMINS_OF_ALL, 'POST', '/erasures', {
    summary: 'Erase an account or footage',
    description:
      'Erases an account with what it left, or the footage of a truck in a range. It cannot be undone: send `dryRun` first, which counts what would be erased. A job does it, and goes on after a restart: `GET /admin/v1/erasures/{id}` is the receipt. Erased footage is not fetched again when the partner lists it.',
    body: CreateErasure,
    response: Erasure,
    examples: ERASURE_EXAMPLES,
    returns: 'The erasure, or what a dry run has counted',
    fails: {
      notFound: 'The account or connection belongs to another hauler',
      conflict: 'A hold keeps footage of the range; `details.holdIds` names the holds',
    },
  }),
  listErasures: list(FOR_VIEWERS_OF_ALL, '/erasures', Erasure, ErasureQuery, {
    summary: 'List erasures',
    description: 'Newest first.',
  }),
  getErasure: one(FOR_VIEWERS_OF_ALL, '/erasures/{id}', 'erasure', Erasure, {
    summary: 'Read an erasure',
    description: 'The progress, and then the receipt: numbers and times, without what was erased.',
  }),
} as const satisfies AdminRoutes;
