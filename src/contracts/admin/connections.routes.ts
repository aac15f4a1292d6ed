import { ListQuery } from './list.dto.js';
import { SyncTreeSite } from './sync-tree.dto.js';
import { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from './catalog.dto.js';
import { CheckConnectionRequest, ConnectionCheck } from './connection-check.dto.js';
import {
  CONNECTION_CHANGES,
  Connection,
  ConnectionQuery,
  CreateConnectionRequest,
  NEW_CONNECTIONS,
  UpdateConnectionRequest,
} from './connection.dto.js';
import { SyncChange, SyncChangeQuery } from './sync-change.dto.js';
import { QuarantinedRecord, QuarantineQuery } from './sync-refusal.dto.js';
import { RejectSyncRunRequest, RequestedSyncRun, SyncRun, SyncRunQuery } from './sync-run.dto.js';
import { type AdminRoutes, create, history, ofOne, page, read, table } from './route-parts.js';

const NOT_HELD = {
  notFound: 'No run has this id',
  conflict: 'The run holds no removals, or a newer run of the connection has begun',
};

/** Connections to partners, the synchronisation of sites, and the catalog that it maintains. */
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
  listSyncRuns: {
    ...page(SyncRun, 'runs'),
    path: '/sync-runs',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List synchronisation runs',
    description: 'Newest first.',
    query: SyncRunQuery,
  },
  getSyncRun: {
    ...read(SyncRun, 'run'),
    path: '/sync-runs/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a synchronisation run',
    description: 'With its counts for each kind of record.',
  },
  listQuarantinedRecords: {
    ...table(QuarantinedRecord, 'records'),
    path: '/sync-runs/{id}/quarantine',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List the quarantined and flagged records of a run',
    description:
      'Records that the run skipped, and records that it stored with a flag. The service keeps at most 10,000 records of a run, for the newest 20 runs of a connection.',
    ...ofOne('run'),
    query: QuarantineQuery,
  },
  listSyncRunChanges: {
    ...table(SyncChange, 'changes'),
    path: '/sync-runs/{id}/changes',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List what a run changed',
    description:
      'Each record before and after. A held run also lists the removals that a confirmation applies. The service keeps at most 10,000 changes of each kind and type of a run, for the newest 100 runs of a connection that changed something.',
    ...ofOne('run'),
    query: SyncChangeQuery,
  },
  listSyncRunTree: {
    ...page(SyncTreeSite, 'sites'),
    path: '/sync-runs/{id}/tree',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List what a run changed by site',
    description:
      'The sites with their changed kiosks and materials, first those of which a confirmation would remove most, and how many disposal tickets of the last 30 days use them. It is made from the stored changes of the run.',
    ...ofOne('run'),
    query: ListQuery,
  },
  rejectSyncRun: {
    ...read(SyncRun, 'run'),
    method: 'POST',
    path: '/sync-runs/{id}/reject',
    role: 'operator',
    isPerHauler: true,
    summary: 'Reject held removals',
    description:
      'Discards the held removals: the records stay active, and the run becomes `rejected`. The next response that would remove them is held again.',
    body: RejectSyncRunRequest,
    isBodyOptional: true,
    fails: NOT_HELD,
  },
  confirmSyncRun: {
    ...read(SyncRun, 'run'),
    method: 'POST',
    path: '/sync-runs/{id}/confirm',
    role: 'operator',
    isPerHauler: true,
    summary: 'Confirm held removals',
    description: "Deactivates the records that were absent from the partner's response; the run becomes `succeeded`.",
    fails: NOT_HELD,
  },
  listSyncRunHistory: history(
    '/sync-runs',
    'a synchronisation run',
    'Its calls to the partner, its result, and the decisions of admins.',
  ),
  listSites: {
    ...table(CatalogSite, 'sites'),
    path: '/sites',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List sites',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listKiosks: {
    ...table(CatalogKiosk, 'kiosks'),
    path: '/kiosks',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List kiosks',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listMaterials: {
    ...table(CatalogMaterial, 'materials'),
    path: '/materials',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List materials',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
} as const satisfies AdminRoutes;
