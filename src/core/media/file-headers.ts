/** The headers of a file behind a download link: what the platform, and the conformance kit, conclude from them. */

/** Names in lower case. */
export interface FileHeaders {
  readonly 'content-encoding'?: string | undefined;
  readonly 'content-length'?: string | undefined;
  readonly 'content-range'?: string | undefined;
  readonly 'last-modified'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
  readonly date?: string | undefined;
  readonly etag?: string | undefined;
}

/** Identifies a partly fetched file, so that a later attempt can continue it. */
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
export function strongValidator(headers: FileHeaders): string | undefined {
  const { etag, 'last-modified': modified, date } = headers;
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? etag : undefined;
  const age = Date.parse(date ?? '') - Date.parse(modified ?? '');
  return age >= 1000 ? modified : undefined;
}

interface ContentRange {
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

const isChunked = (headers: FileHeaders): boolean => /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');

/** Undefined beside chunks, which have precedence. */
export const contentLength = (headers: FileHeaders): number | undefined =>
  /^\d{1,15}$/.test(headers['content-length'] ?? '') && !isChunked(headers)
    ? Number(headers['content-length'])
    : undefined;

/**
 * Whether a 206 carries exactly the missing bytes of the same file. Servers that ignore `If-Range` send a part of another
 * file; its `ETag` or its total differs.
 */
export function continuesFile({ validator, total }: FileIdentity, from: number, headers: FileHeaders): boolean {
  const range = contentRange(headers['content-range']);
  if (range === undefined || range.start !== from || range.end !== total - 1 || range.total !== total) return false;
  const length = contentLength(headers);
  if (length !== undefined && length !== total - from) return false;
  return !validator.startsWith('"') || headers.etag === undefined || headers.etag === validator;
}

/** Whether the end of the body can be distinguished from a broken connection. */
export const hasVisibleEnd = (headers: FileHeaders): boolean =>
  contentLength(headers) !== undefined || isChunked(headers);

const COMPRESSIONS = /\b(gzip|deflate|br|zstd|compress|dcb|dcz)\b/i;

/**
 * Whether the body is the file itself, not a compressed form of it. Stores send names that are no compression, such as
 * `aws-chunked`, `utf-8` or `binary`, with the plain bytes (decision 64), and the boxes show whether these are whole.
 */
export const isUncompressed = (headers: FileHeaders): boolean => !COMPRESSIONS.test(headers['content-encoding'] ?? '');
