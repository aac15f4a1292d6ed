import { defineStates, type StateOf } from '../../jobs/states.js';

/** How a recording moves: fetched, given up with a reason, or found again after its link had died. */
export const RECORDING_STATES = defineStates('a recording', {
  available: ['downloading', 'expired'],
  downloading: ['available', 'stored', 'expired', 'failed'],
  // Listed again with a link that lives, unless retention deleted its file (`RecordingStore.relist`).
  expired: ['available'],
  // By retention.
  stored: ['expired'],
  failed: [],
});

export type RecordingState = StateOf<typeof RECORDING_STATES>;
