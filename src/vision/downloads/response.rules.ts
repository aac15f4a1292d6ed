import type { IncomingHttpHeaders } from 'node:http';

/** What identifies a partly fetched file as the same one later. */
export interface FileIdentity {
  /** For `If-Range`: a strong `ETag`, or a `Last-Modified` that is strong enough. */
  readonly validator: string;
  /** Bytes of the whole file. */
  readonly total: number;
}

/**
 * The validator for `If-Range`, RFC 9110 section 13.1.5: never a weak ETag, and a date only if it is at least a second
 * older than the response's `Date`, because a file may change twice within one second.
 */
export function strongValidator(headers: IncomingHttpHeaders): string | undefined {
  const { etag, 'last-modified': modified, date } = headers;
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? etag : undefined;
  const age = Date.parse(date ?? '') - Date.parse(modified ?? '');
  return age >= 1000 ? modified : undefined;
}

export interface ContentRange {
  readonly start: number;
  readonly end: number;
  readonly total: number | undefined;
}

export function contentRange(header: string | undefined): ContentRange | undefined {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(header ?? '');
  if (found === null) return undefined;
  const [start, end] = [Number(found[1]), Number(found[2])];
  const total = found[3] === '*' ? undefined : Number(found[3]);
  return start <= end && (total === undefined || end < total) ? { start, end, total } : undefined;
}

export const contentLength = (headers: IncomingHttpHeaders): number | undefined =>
  /^\d{1,15}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : undefined;

/**
 * Whether a 206 carries exactly the missing bytes of the same file. Servers that ignore `If-Range` send a part of another
 * file; its `ETag` or its total differs.
 */
export function continuesFile({ validator, total }: FileIdentity, from: number, headers: IncomingHttpHeaders): boolean {
  const range = contentRange(headers['content-range']);
  if (range === undefined || range.start !== from || range.end !== total - 1 || range.total !== total) return false;
  const length = contentLength(headers);
  if (length !== undefined && length !== total - from) return false;
  return !validator.startsWith('"') || headers.etag === undefined || headers.etag === validator;
}

/** Whether the end of the body can be distinguished from a broken connection. */
export const hasVisibleEnd = (headers: IncomingHttpHeaders): boolean =>
  contentLength(headers) !== undefined || /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');

/** Whether the body is the file itself, not a compressed form of it. */
export const isUnencoded = (headers: IncomingHttpHeaders): boolean =>
  /^(identity)?$/i.test(headers['content-encoding'] ?? '');
