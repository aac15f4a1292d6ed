export const RECORDING_SOURCES = ['on-demand', 'continuous'] as const;
export type RecordingSource = (typeof RECORDING_SOURCES)[number];

export const RECORDING_STATUSES = ['available', 'downloading', 'stored', 'expired', 'failed'] as const;
export type RecordingStatus = (typeof RECORDING_STATUSES)[number];
