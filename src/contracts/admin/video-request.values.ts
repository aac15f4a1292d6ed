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
