import { ListQuery } from './list.dto.js';
import {
  type AdminRoutes,
  change,
  FOR_OPERATORS,
  FOR_VIEWERS,
  history,
  list,
  listOfOne,
  one,
} from './route-helpers.js';
import { SyncChange, SyncChangeQuery } from './sync-change.dto.js';
import { QuarantinedRecord, QuarantineQuery } from './sync-refusal.dto.js';
import { ConfirmSyncRunRequest, RejectSyncRunRequest, SyncRun, SyncRunQuery } from './sync-run.dto.js';
import { SyncTreeSite } from './sync-tree.dto.js';

const NOT_HELD = {
  notFound: 'No run has this id',
  conflict: 'The run holds no removals, or a newer run of the connection has begun',
};

/** Synchronisation runs of sites. */
export const SYNC_RUN_ROUTES = {
  listSyncRuns: list(FOR_VIEWERS, '/sync-runs', SyncRun, SyncRunQuery, {
    summary: 'List synchronisation runs',
    description: 'Newest first.',
  }),
  getSyncRun: one(FOR_VIEWERS, '/sync-runs/{id}', 'run', SyncRun, {
    summary: 'Read a synchronisation run',
    description: 'With its counts for each kind of record.',
  }),
  listQuarantinedRecords: listOfOne(
    FOR_VIEWERS,
    '/sync-runs/{id}/quarantine',
    'run',
    QuarantinedRecord,
    QuarantineQuery,
    {
      summary: 'List the quarantined and flagged records of a run',
      description:
        'Records that the run skipped, and records that it stored with a flag. The service keeps at most 10,000 records of a run, for the newest 20 runs of a connection.',
      csv: true,
    },
  ),
  listSyncRunChanges: listOfOne(FOR_VIEWERS, '/sync-runs/{id}/changes', 'run', SyncChange, SyncChangeQuery, {
    summary: 'List what a run changed',
    description:
      'Each record before and after. A held run also lists the removals that a confirmation applies. The service keeps at most 10,000 changes of each kind and type of a run, for the newest 100 runs of a connection that changed something.',
    csv: true,
  }),
  listSyncRunTree: listOfOne(FOR_VIEWERS, '/sync-runs/{id}/tree', 'run', SyncTreeSite, ListQuery, {
    summary: 'List what a run changed by site',
    description:
      'The sites with their changed kiosks and materials, first those of which a confirmation would remove most, and how many disposal tickets of the last 30 days use them. It is made from the stored changes of the run.',
  }),
  rejectSyncRun: change(FOR_OPERATORS, 'POST', '/sync-runs/{id}/reject', 'run', {
    summary: 'Reject held removals',
    description:
      'Discards the held removals: the records stay active, and the run becomes `rejected`. The next response that would remove them is held again.',
    body: RejectSyncRunRequest,
    response: SyncRun,
    isBodyOptional: true,
    fails: NOT_HELD,
  }),
  confirmSyncRun: change(FOR_OPERATORS, 'POST', '/sync-runs/{id}/confirm', 'run', {
    summary: 'Confirm held removals',
    description:
      "Deactivates the records that were absent from the partner's response; the run becomes `succeeded`. A dry run answers with the run as it would be.",
    body: ConfirmSyncRunRequest,
    response: SyncRun,
    isBodyOptional: true,
    fails: NOT_HELD,
  }),
  listSyncRunHistory: history(
    '/sync-runs/{id}/history',
    'a synchronisation run',
    'Its calls to the partner, its result, and the decisions of admins.',
  ),
} as const satisfies AdminRoutes;
