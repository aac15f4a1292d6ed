export const RECORDING_SOURCES = ['on-demand', 'continuous'] as const;
export type RecordingSource = (typeof RECORDING_SOURCES)[number];

export const RECORDING_STATUSES = ['available', 'downloading', 'stored', 'expired', 'failed'] as const;
export type RecordingStatus = (typeof RECORDING_STATUSES)[number];

export const VIDEO_REQUEST_STATUSES = [
  'submitting',
  'processing',
  'ready',
  'downloading',
  'stored',
  'failed',
  'expired',
] as const;
export type VideoRequestStatus = (typeof VIDEO_REQUEST_STATUSES)[number];

export const HOLD_STATUSES = ['active', 'released'] as const;
export type HoldStatus = (typeof HOLD_STATUSES)[number];

/** Why nothing is held of a time, as a code and in words. */
export const MISSING_CAUSES = {
  deleted: 'deleted by the retention before it was held',
  lost: 'the download failed, or its link expired',
  notListed: 'no recording of it is known',
  erased: 'erased by request',
  monthRemoved: 'it is older than VIDEO_ROWS_DAYS: what there was is no longer known',
} as const satisfies Readonly<Record<string, string>>;

export type MissingCause = keyof typeof MISSING_CAUSES;
export const MISSING_CAUSE_CODES = Object.keys(MISSING_CAUSES) as MissingCause[];
