import { Action, ActionQuery } from './action.dto.js';
import { Attention } from './attention.dto.js';
import { OutboundRequest, OutboundState } from './outbound.dto.js';
import { Overview } from './overview.dto.js';
import {
  RetentionRequest,
  RetentionResult,
  StorageCheck,
  StorageCheckQuery,
  StorageRepair,
  StorageRepairRequest,
} from './storage.dto.js';
import { type AdminRoutes, page } from './route-parts.js';

/** The day in numbers, the action log and the video storage. */
export const OPERATION_ROUTES = {
  getOverview: {
    method: 'GET',
    path: '/overview',
    role: 'viewer',
    summary: 'Read the last 24 hours in numbers',
    description:
      'By hour (UTC), the current one last: pushes of tickets by result, stored recordings, exchanges by status; and the refused pushes by reason.',
    status: 200,
    response: Overview,
    returns: 'The overview',
  },
  getAttention: {
    method: 'GET',
    path: '/attention',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List what needs attention',
    description:
      'One ranked list over everything that the service stores: held and failing synchronisations, calls that partners refuse, downloads at risk, lost footage, refused pushes, keys that expire, trouble of the storage. `checked` names every check that was made, also those that found nothing, and those that could not be made.',
    status: 200,
    response: Attention,
    returns: 'What needs attention',
  },
  listActions: {
    ...page(Action, 'actions'),
    path: '/actions',
    role: 'viewer',
    summary: 'List the actions of admins and partners',
    description:
      'Every change by the admin API, the console or the partner API, and every view of a recording or an exchange, newest first, for 400 days. Refused calls (4xx) and dry runs are not listed; a call that failed (5xx) is, with its `error`. With `Accept: application/x-ndjson` all of them, which is an action too: `actions.exported`.',
    query: ActionQuery,
    ndjson: true,
  },
  checkStorage: {
    method: 'GET',
    path: '/doctor',
    role: 'viewer',
    summary: 'Compare the video storage with the database',
    description:
      'Lists files without a row, rows whose file is missing or differs, and the days of trucks whose sums differ from the recordings. Changes nothing. With `checksums` the service reads every file, which takes as long as reading them does.',
    query: StorageCheckQuery,
    status: 200,
    response: StorageCheck,
    returns: 'The differences',
  },
  repairStorage: {
    method: 'POST',
    path: '/doctor/repair',
    role: 'admin',
    summary: 'Repair what the storage has lost',
    description:
      'Compares the storage with the database. A recording whose file is gone waits for it again, with the reason, and is fetched if the partner still lists it. Files without a row are removed with `removeOrphans` only. A file that differs is listed. Sums of days that differ from the recordings are corrected.',
    body: StorageRepairRequest,
    isBodyOptional: true,
    status: 200,
    response: StorageRepair,
    returns: 'What was done',
  },
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
  runRetention: {
    method: 'POST',
    path: '/retention',
    role: 'admin',
    summary: 'Delete stored video by age now',
    description:
      'Deletes what is older than the retention of its hauler, unless a hold keeps it, as the service does every hour.',
    body: RetentionRequest,
    isBodyOptional: true,
    status: 200,
    response: RetentionResult,
    returns: 'The number of deleted recordings',
  },
} as const satisfies AdminRoutes;
