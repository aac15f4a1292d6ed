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
import { type AdminRoutes, FOR_VIEWERS, list, route } from './route-helpers.js';

/** Recorded and missing video over time. */
export const COVERAGE_ROUTES = {
  getCoverage: route(FOR_VIEWERS, 'GET', '/coverage', {
    summary: 'Read the recording coverage of a truck',
    description:
      'Splits the requested time of each camera into intervals that are stored, available, missing or expired, with the reason. With `resolution` it returns the seconds of each state in buckets instead, for any number of recordings.',
    query: CoverageQuery,
    response: Coverage,
    variants: [CoverageInterval, CoverageBucket],
    csv: true,
    returns: 'The intervals or buckets',
  }),
  getCoverageSummary: route(FOR_VIEWERS, 'GET', '/coverage/summary', {
    summary: 'Read why footage of a truck is missing',
    description:
      'The seconds of each camera over the whole range by state and cause: what the intervals of the coverage add up to.',
    query: CoverageSummaryQuery,
    response: CoverageSummary,
    returns: 'The cameras',
  }),
  listFleetCoverage: list(FOR_VIEWERS, '/coverage/fleet', TruckCoverage, FleetCoverageQuery, {
    summary: 'Read the recording coverage of a fleet',
    description:
      'One row per truck with its days, the truck with the most lost footage first, then those with an absent camera. Includes the trucks with a recording or a subscription in this time.',
    csv: { each: 'days' },
  }),
} as const satisfies AdminRoutes;
