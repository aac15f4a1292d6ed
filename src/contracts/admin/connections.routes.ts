import { CheckConnectionRequest, ConnectionCheck } from './connection-check.dto.js';
import {
  Connection,
  CONNECTION_CHANGES,
  ConnectionQuery,
  CreateConnectionRequest,
  NEW_CONNECTIONS,
  UpdateConnectionRequest,
} from './connection.dto.js';
import { type AdminRoutes, create, ofOne, page, read } from './route-parts.js';
import { RequestedSyncRun } from './sync-run.dto.js';

/** Connections to partners. */
export const CONNECTION_ROUTES = {
  createConnection: {
    ...create(Connection, 'connection'),
    path: '/connections',
    role: 'admin',
    isPerHauler: true,
    summary: 'Connect a hauler to a partner',
    description: 'The service never shows the keys again. An enabled site connection starts its first run at once.',
    body: CreateConnectionRequest,
    examples: NEW_CONNECTIONS,
  },
  listConnections: {
    ...page(Connection, 'connections'),
    path: '/connections',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List connections',
    description: 'Newest first.',
    query: ConnectionQuery,
  },
  getConnection: {
    ...read(Connection, 'connection'),
    path: '/connections/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a connection',
    description: 'By its id, without its keys.',
  },
  updateConnection: {
    ...read(Connection, 'connection'),
    method: 'PATCH',
    path: '/connections/{id}',
    role: 'admin',
    isPerHauler: true,
    summary: 'Change a connection',
    description:
      'Fields that are absent stay the same. `enabled: false` pauses the connection; the service tries a new address, key or customer at once. A key belongs to the origin that it was saved with: a `baseUrl` of another scheme, host or port needs `apiKey` in the same call.',
    body: UpdateConnectionRequest,
    examples: CONNECTION_CHANGES,
  },
  deleteConnection: {
    method: 'DELETE',
    path: '/connections/{id}',
    role: 'admin',
    isPerHauler: true,
    summary: 'Delete a connection',
    description:
      'Erases its keys, revokes the keys that were issued for it, and ends all calls to the partner; the data that came through it stays.',
    ...ofOne('connection'),
    status: 204,
    returns: 'The connection is deleted',
  },
  checkConnection: {
    method: 'POST',
    path: '/connections/{id}/check',
    role: 'operator',
    isPerHauler: true,
    isOpenToReadToken: true,
    summary: 'Check a connection',
    description:
      'Calls every GET of the interface, and of Vision fetches one listed file, without keeping it. Changes no data, but promotes a next key that works.',
    ...ofOne('connection'),
    body: CheckConnectionRequest,
    isBodyOptional: true,
    status: 200,
    response: ConnectionCheck,
    returns: 'The findings',
  },
  syncConnection: {
    method: 'POST',
    path: '/connections/{id}/sync',
    role: 'operator',
    isPerHauler: true,
    summary: 'Synchronise a site connection now',
    description: 'Also while the connection is paused. While a run is active, the response names that run.',
    ...ofOne('connection'),
    status: 202,
    response: RequestedSyncRun,
    returns: 'The run',
  },
} as const satisfies AdminRoutes;
