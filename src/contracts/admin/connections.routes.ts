import { CheckConnectionRequest, ConnectionCheck } from './connection-check.dto.js';
import {
  Connection,
  CONNECTION_CHANGES,
  ConnectionQuery,
  ConnectionRemoval,
  CreateConnectionRequest,
  NEW_CONNECTIONS,
  UpdateConnectionRequest,
} from './connection.dto.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS,
  FOR_OPERATORS,
  FOR_VIEWERS,
  list,
  one,
  removeWithPreview,
} from './route-helpers.js';
import { RequestedSyncRun } from './sync-run.dto.js';

export const CONNECTION_ROUTES = {
  createConnection: create(FOR_ADMINS, '/connections', CreateConnectionRequest, Connection, {
    summary: 'Create a connection of a hauler to a partner',
    description: 'The service never shows the keys again. An enabled site connection starts its first run at once.',
    examples: NEW_CONNECTIONS,
  }),
  listConnections: list(FOR_VIEWERS, '/connections', Connection, ConnectionQuery, {
    summary: 'List connections',
    description: 'Newest first.',
  }),
  getConnection: one(FOR_VIEWERS, '/connections/{id}', 'connection', Connection, {
    summary: 'Read a connection',
    description: 'By its id, without its keys.',
  }),
  updateConnection: change(FOR_ADMINS, 'PATCH', '/connections/{id}', 'connection', {
    summary: 'Change a connection',
    description:
      'Fields that are absent stay the same. `enabled: false` pauses the connection; the service tries a new address, key or customer at once. A key belongs to the origin that it was saved with: a `baseUrl` of another scheme, host or port needs `apiKey` in the same call.',
    body: UpdateConnectionRequest,
    response: Connection,
    examples: CONNECTION_CHANGES,
  }),
  deleteConnection: removeWithPreview(FOR_ADMINS, '/connections/{id}', 'connection', ConnectionRemoval, {
    summary: 'Delete a connection',
    description:
      'Erases its keys, revokes the keys that were issued for it, and ends all calls to the partner; the data that came through it stays.',
  }),
  checkConnection: change(FOR_OPERATORS, 'POST', '/connections/{id}/check', 'connection', {
    summary: 'Check a connection',
    description:
      'Calls every GET of the interface, and of Vision fetches one listed file, without keeping it. Changes no data, but promotes a next key that works.',
    body: CheckConnectionRequest,
    response: ConnectionCheck,
    isBodyOptional: true,
    isOpenToReadToken: true,
    returns: 'The findings',
  }),
  syncConnection: change(FOR_OPERATORS, 'POST', '/connections/{id}/sync', 'connection', {
    summary: 'Synchronise a site connection now',
    description: 'Also while the connection is paused. While a run is active, the response names that run.',
    response: RequestedSyncRun,
    status: 202,
  }),
} as const satisfies AdminRoutes;
