import { CreateErasure, Erasure, ERASURE_EXAMPLES, ErasureQuery } from './erasure.dto.js';
import { type AdminRoutes, page, read } from './route-parts.js';

/** Erasure of an account or of footage by request. */
export const ERASURE_ROUTES = {
  createErasure: {
    method: 'POST',
    status: 200,
    response: Erasure,
    returns: 'The erasure, or what a dry run has counted',
    path: '/erasures',
    role: 'admin',
    summary: 'Erase an account or footage',
    description:
      'Erases an account with what it left, or the footage of a truck in a range. It cannot be undone: send `dryRun` first, which counts what would be erased. A job does it, and goes on after a restart: `GET /admin/v1/erasures/{id}` is the receipt. Erased footage is not fetched again when the partner lists it.',
    body: CreateErasure,
    examples: ERASURE_EXAMPLES,
    fails: { conflict: 'A hold keeps footage of the range; `details.holdIds` names the holds' },
  },
  listErasures: {
    ...page(Erasure, 'erasures'),
    path: '/erasures',
    role: 'viewer',
    summary: 'List erasures',
    description: 'Newest first.',
    query: ErasureQuery,
  },
  getErasure: {
    ...read(Erasure, 'erasure'),
    path: '/erasures/{id}',
    role: 'viewer',
    summary: 'Read an erasure',
    description: 'The progress, and then the receipt: numbers and times, without what was erased.',
  },
} as const satisfies AdminRoutes;
