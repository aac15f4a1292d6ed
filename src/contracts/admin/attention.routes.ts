import { Attention } from './attention.dto.js';
import { Overview, OverviewDays, OverviewDaysQuery } from './overview.dto.js';
import { type AdminRoutes, FOR_VIEWERS, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';

/** What needs attention, and the day in numbers. */
export const ATTENTION_ROUTES = {
  getOverview: route(FOR_VIEWERS_OF_ALL, 'GET', '/overview', {
    summary: 'Read the last 24 hours in numbers',
    description:
      'By hour (UTC), the current one last: pushes of tickets by result, stored recordings, exchanges by status; and the refused pushes by reason.',
    response: Overview,
  }),
  getOverviewDays: route(FOR_VIEWERS, 'GET', '/overview/days', {
    summary: 'Read what came in on the last 14 days, and who is quiet',
    description:
      'By day of a time zone, of one hauler or of all that the caller may see: tickets and tons, accounts, refused calls, stored footage and its coverage; and the scale houses and cameras that send less than on their usual day.',
    query: OverviewDaysQuery,
    response: OverviewDays,
    fails: { invalid: 'An unknown time zone' },
  }),
  getAttention: route(FOR_VIEWERS, 'GET', '/attention', {
    summary: 'List what needs attention',
    description:
      'One ranked list over everything that the service stores: held and failing synchronisations, calls that partners refuse, downloads at risk, lost footage, refused pushes, keys that expire, work that is late, trouble of the database, its standbys and the storage. `checked` names every check that was made, also those that found nothing, and those that could not be made.',
    response: Attention,
    returns: 'What needs attention',
  }),
} as const satisfies AdminRoutes;
