import { OutboundRequest, OutboundState } from './outbound.dto.js';
import type { AdminRoutes } from './route-parts.js';

/** The switch of all calls to partners. */
export const OUTBOUND_ROUTES = {
  getOutbound: {
    method: 'GET',
    path: '/outbound',
    role: 'viewer',
    summary: 'Read whether partners are called',
    description: 'A restored copy of a database calls no partner until an admin switches the calls on.',
    status: 200,
    response: OutboundState,
    returns: 'Whether partners are called, and why not',
  },
  setOutbound: {
    method: 'PUT',
    path: '/outbound',
    role: 'admin',
    summary: 'Switch all calls to partners on or off',
    description:
      'Off: within 2 s no instance starts a call or a download; due work waits and loses no attempt, and video is missing only if partners no longer list it when the calls are on again.',
    body: OutboundRequest,
    status: 200,
    response: OutboundState,
    returns: 'The new state',
    fails: { conflict: 'OUTBOUND=off in the environment of the service' },
  },
} as const satisfies AdminRoutes;
