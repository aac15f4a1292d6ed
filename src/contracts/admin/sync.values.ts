/** The kinds of records of a Site interface. */
export const SYNC_KINDS = ['sites', 'kiosks', 'materials'] as const;
export type SyncKind = (typeof SYNC_KINDS)[number];
