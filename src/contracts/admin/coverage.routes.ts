import {
  Coverage,
  CoverageBucket,
  CoverageInterval,
  CoverageQuery,
  CoverageSummary,
  CoverageSummaryQuery,
  FleetCoverageQuery,
  TruckCoverage,
} from './coverage.dto.js';
import { type AdminRoutes, table } from './route-parts.js';

/** Recorded and missing video over time. */
export const COVERAGE_ROUTES = {
  getCoverage: {
    method: 'GET',
    path: '/coverage',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read the recording coverage of a truck',
    description:
      'Splits the requested time of each camera into intervals that are stored, available, missing or expired, with the reason. With `resolution` it returns the seconds of each state in buckets instead, for any number of recordings.',
    query: CoverageQuery,
    status: 200,
    response: Coverage,
    variants: [CoverageInterval, CoverageBucket],
    csv: { elements: [CoverageInterval, CoverageBucket] },
    returns: 'The intervals or buckets',
  },
  getCoverageSummary: {
    method: 'GET',
    path: '/coverage/summary',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read why footage of a truck is missing',
    description:
      'The seconds of each camera over the whole range by state and cause: what the intervals of the coverage add up to.',
    query: CoverageSummaryQuery,
    status: 200,
    response: CoverageSummary,
    returns: 'The cameras',
  },
  listFleetCoverage: {
    ...table(TruckCoverage, 'trucks', 'days'),
    path: '/coverage/fleet',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read the recording coverage of a fleet',
    description:
      'One row per truck with its days, the truck with the most lost footage first, then those with an absent camera. Includes the trucks with a recording or a subscription in this time.',
    query: FleetCoverageQuery,
  },
} as const satisfies AdminRoutes;
