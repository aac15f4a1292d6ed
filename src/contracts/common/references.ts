/** Kinds of values by which an exchange is found: ids of this service, and ids and names of partners. */
export const REFERENCE_KINDS = [
  'ticketId',
  'ticketNumber',
  'accountId',
  'accountName',
  'siteId',
  'materialId',
  'truckId',
  'cameraId',
  'videoRequestId',
  'recordingId',
  'syncRunId',
  'partnerRequestId',
  'partnerRecordingId',
  'idempotencyKey',
] as const;
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

export interface Reference {
  readonly kind: ReferenceKind;
  readonly value: string;
}

/** Reads `ticketNumber:IN-204817`; undefined for an unknown kind or an empty value. The value may contain colons. */
export function parseReference(text: string): Reference | undefined {
  const colon = text.indexOf(':');
  const kind = REFERENCE_KINDS.find((each) => each === text.slice(0, colon));
  const value = text.slice(colon + 1);
  return kind === undefined || colon < 0 || value === '' ? undefined : { kind, value };
}
