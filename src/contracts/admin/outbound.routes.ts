import { Flag, Text, Time } from '../common/fields/decorators.js';
import { between, example, optional } from '../common/fields/options.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';

export class OutboundRequest {
  @Flag('false: no partner is called, on any instance', example(false)) enabled!: boolean;
  @Text('Why, for those who wonder later', between(1, 500), optional, example('restored from a backup of 2026-11-25'))
  reason?: string;
}

/** Whether partners are called. */
class OutboundState {
  @Flag('Whether partners are called and files are fetched', example(false)) enabled!: boolean;
  @Text('Why not; absent while they are', optional, example('restored from a backup of 2026-11-25')) reason?: string;
  @Time('Since when; absent while they are, and where the environment says so', optional) since?: string;
}

/** The switch of all calls to partners. */
export const OUTBOUND_ROUTES = {
  getOutbound: route(FOR_VIEWERS_OF_ALL, 'GET', '/outbound', {
    summary: 'Read whether partners are called',
    description: 'A restored copy of a database calls no partner until an admin switches the calls on.',
    response: OutboundState,
    returns: 'Whether partners are called, and why not',
  }),
  setOutbound: route(FOR_ADMINS_OF_ALL, 'PUT', '/outbound', {
    summary: 'Switch all calls to partners on or off',
    description:
      'Off: within 2 s no instance starts a call or a download; due work waits and loses no attempt, and video is missing only if partners no longer list it when the calls are on again.',
    body: OutboundRequest,
    response: OutboundState,
    returns: 'The new state',
    fails: { conflict: 'OUTBOUND=off in the environment of the service' },
  }),
} as const satisfies AdminRoutes;
