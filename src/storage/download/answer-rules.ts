import type { IncomingHttpHeaders } from 'node:http';
import type { Memo } from '../storage.js';

/** By what a half fetched file is recognised as the same one later; kept as the writer's memo. */
export interface Kept extends Memo {
  /** A strong `ETag`, or a `Last-Modified` that is strong enough: what goes into `If-Range`. */
  readonly validator: string;
  /** Bytes of the whole file. */
  readonly total: number;
}

export const isKept = (memo: Memo | undefined): memo is Kept =>
  typeof memo?.['validator'] === 'string' && typeof memo['total'] === 'number';

/**
 * The validator for `If-Range`, RFC 9110 section 13.1.5: a weak ETag is none; a date only where it lies at least a
 * second before the answer's own `Date`, since a file may change twice within one second.
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
 * Whether an answer of 206 carries exactly the bytes that are missing of the very file that was begun. Servers that
 * ignore `If-Range` send a part of another file: their `ETag` or total tells.
 */
export function continues(kept: Kept, from: number, headers: IncomingHttpHeaders): boolean {
  const range = contentRange(headers['content-range']);
  if (range === undefined || range.start !== from || range.end !== kept.total - 1 || range.total !== kept.total)
    return false;
  const length = contentLength(headers);
  if (length !== undefined && length !== kept.total - from) return false;
  return !kept.validator.startsWith('"') || headers.etag === undefined || headers.etag === kept.validator;
}

/** Whether a body ends in a way that can be told from being cut off. */
export const endsVisibly = (headers: IncomingHttpHeaders): boolean =>
  contentLength(headers) !== undefined || /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');

/** Whether the bytes sent are the file's own. */
export const isPlain = (headers: IncomingHttpHeaders): boolean =>
  /^(identity)?$/i.test(headers['content-encoding'] ?? '');
