import { Tonnage, TonnageQuery, TonnageRow } from './report.dto.js';
import type { AdminRoutes } from './route-parts.js';

/** Sums over what partners pushed. */
export const REPORT_ROUTES = {
  getTonnage: {
    method: 'GET',
    path: '/reports/tonnage',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Sum the tonnage of tickets',
    description:
      'By site, material, local day or a custom field, of the current state of the tickets that were first received in this time. A ticket counts once, whether it has one flow or both. A line in a unit of weight is converted to short tons; any other unit is summed apart.',
    query: TonnageQuery,
    status: 200,
    response: Tonnage,
    csv: { elements: [TonnageRow] },
    returns: 'The sums',
  },
} as const satisfies AdminRoutes;
