import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { matchesEtag } from './conditional-requests.js';
import { PAGE_HEADERS } from './headers.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Bytes that all responses share: an unread response takes no memory of its own for them. */
export interface SharedBytes {
  readonly parts: readonly Buffer[];
  readonly etag: string;
}

/** A file of a page, as it is and compressed. It stays in memory: no response opens a file. */
export interface StaticFile {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly plain: SharedBytes;
  readonly compressed: SharedBytes;
}

type Headers = Readonly<Record<string, string>>;

/** A strong entity tag. */
export const etagOf = (content: Buffer | string): string =>
  `"${createHash('sha256').update(content).digest('base64url')}"`;

const shared = (bytes: Buffer): SharedBytes => ({ parts: [bytes], etag: etagOf(bytes) });

/** `headers` replace those of all pages. */
export async function staticFile(name: string, bytes: Buffer, headers: Headers): Promise<StaticFile> {
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    headers: new Map([...PAGE_HEADERS, ['Vary', 'Accept-Encoding'], ...Object.entries(headers)]),
    plain: shared(bytes),
    compressed: shared(await promisify(gzip)(bytes)),
  };
}

/** Reads at the first call and keeps what was read. A failure is not kept: the next call reads again. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    const reading = (kept ??= read());
    reading.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading;
  };
}

/** Whether a file does not exist, unlike one that cannot be read now. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Answers `GET` and `HEAD`. */
export function sendStatic(request: Request, response: Response, file: StaticFile): void {
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  response.setHeaders(file.headers as Map<string, string>);
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  sendShared(request, response, isCompressed ? file.compressed : file.plain, file.type);
}

/** Sends bytes with their entity tag, or 304 to a caller that has them. */
export function sendShared(request: Request, response: Response, { parts, etag }: SharedBytes, type: string): void {
  response.setHeader('ETag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.removeHeader('Content-Encoding');
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', type);
  response.setHeader(
    'Content-Length',
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  for (const part of parts) response.write(part);
  response.end();
}
