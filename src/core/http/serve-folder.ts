import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request, Response } from 'express';
import { PACKAGE_FOLDER } from '../config/version.js';
import { AppError } from '../errors/app-error.js';
import { matchesEtag } from './conditional-requests.js';
import { PAGE_HEADERS } from './headers.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.yaml': 'text/yaml; charset=utf-8',
};
const DEFAULT_TYPE = 'text/plain; charset=utf-8';

/** Bytes that all responses share: an unread response takes no memory of its own for them. */
interface SharedBytes {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A file, as it is and compressed. It stays in memory: only the first response opens it. */
interface StaticFile {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly plain: SharedBytes;
  readonly compressed: SharedBytes;
}

/** How the files of a folder are served. A path has no slash at its ends, and is empty for the folder itself. */
export interface FolderOptions {
  /** The names of the file at this path: the first that exists is sent. */
  readonly namesOf: (path: string, request: Request, response: Response) => readonly string[];
  /** Headers of a file. They replace those of all pages. */
  readonly headersOf: (name: string) => Readonly<Record<string, string>>;
  /** Called if the folder has no such file, before the next handler. */
  readonly otherwise?: (path: string, request: Request, response: Response) => void;
}

/**
 * Serves the files of a folder of the build below `at`, as one route: `GET` and `HEAD`, with entity tags and gzip. A file is read
 * at its first request. A failure to read it is not kept: the next request reads again.
 */
export function serveFolder(app: NestExpressApplication, at: string, folder: string, options: FolderOptions): void {
  const express = app.getHttpAdapter().getInstance() as Application;
  const root = join(PACKAGE_FOLDER, 'dist', folder);
  const names = readOnce(() => namesIn(root));
  const files = new Map<string, () => Promise<StaticFile>>();
  const open = (name: string): Promise<StaticFile> => {
    const read = files.get(name) ?? readOnce(() => readStaticFile(root, name, options));
    files.set(name, read);
    return read();
  };
  express.all(`${at}{/*path}`, async (request, response, next) => {
    const path = request.path.slice(at.length).replace(/^\/|\/$/g, '');
    const known = await names();
    const name = options.namesOf(path, request, response).find((each) => known.has(each));
    if (name === undefined) {
      options.otherwise?.(path, request, response);
      next();
      return;
    }
    requireRead(request);
    send(request, response, await open(name));
  });
}

/** Whether a request asks for a file. */
export const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

/** Throws `methodNotAllowed` for any other request. */
export function requireRead(request: Request): void {
  if (isRead(request)) return;
  const [path] = request.originalUrl.split('?', 1);
  const message = `${request.method} is not supported: ${path} supports GET, HEAD`;
  throw new AppError('methodNotAllowed', message, { headers: { Allow: 'GET, HEAD' } });
}

/** Keeps what was read, unless it failed. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    const reading = (kept ??= read());
    reading.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading;
  };
}

/** The files below a folder, by their paths there. No other path is read, whatever a caller asks for. */
async function namesIn(root: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new AppError('notFound', 'the pages are not built: run npm run build', { cause: error });
  });
  const files = entries.filter((entry) => entry.isFile());
  return new Set(files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll(sep, '/')));
}

async function readStaticFile(root: string, name: string, { headersOf }: FolderOptions): Promise<StaticFile> {
  const bytes = await readFile(join(root, name));
  return {
    type: TYPES[extname(name)] ?? DEFAULT_TYPE,
    headers: new Map([...PAGE_HEADERS, ['Vary', 'Accept-Encoding'], ...Object.entries(headersOf(name))]),
    plain: shared(bytes),
    compressed: shared(await promisify(gzip)(bytes)),
  };
}

/** With a strong entity tag. */
const shared = (bytes: Buffer): SharedBytes => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
});

/** Sends a file, or 304 to a caller that has it. */
function send(request: Request, response: Response, { type, headers, plain, compressed }: StaticFile): void {
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  const { bytes, etag } = isCompressed ? compressed : plain;
  response.setHeaders(headers as Map<string, string>).setHeader('ETag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}
