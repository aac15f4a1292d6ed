/** The kinds of records of a Site interface. Parents come first: the kinds are applied in this order. */
export const SYNC_KINDS = ['sites', 'kiosks', 'materials'] as const;
export type SyncKind = (typeof SYNC_KINDS)[number];

/** What a run did to a record. `held`: the record is active, and a confirmation removes it. */
export const SYNC_CHANGES = ['created', 'updated', 'deactivated', 'restored', 'held'] as const;
export type SyncChangeName = (typeof SYNC_CHANGES)[number];

export const SYNC_RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'] as const;
export type SyncRunStatus = (typeof SYNC_RUN_STATUSES)[number];
