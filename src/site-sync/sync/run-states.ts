import { defineStates, type StateOf } from '../../jobs/states.js';

/** A run is queued when somebody asks for one, running once an instance has it; held waits for an admin or a later answer. */
export const RUN_STATES = defineStates('a synchronisation run', {
  queued: ['running', 'failed'],
  running: ['succeeded', 'failed', 'held', 'no_data'],
  held: ['succeeded'],
  succeeded: [],
  failed: [],
  no_data: [],
});

export type RunStatus = StateOf<typeof RUN_STATES>;

const ACTIVE_STATUSES: readonly RunStatus[] = ['queued', 'running'];

/** A connection has at most one such run, held by the unique index `sync_runs_active_key`. */
export const ACTIVE = `status IN (${ACTIVE_STATUSES.map((status) => `'${status}'`).join(', ')})`;
