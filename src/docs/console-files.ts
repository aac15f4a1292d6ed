import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { matchesEtag } from '../http/conditional-requests.js';

/** The pages of the admin console below `/console`. All have the same file, whose script reads the address. */
const CONSOLE_PAGES = [
  'coverage',
  'recordings',
  'sync',
  'tickets',
  'accounts',
  'exchanges',
  'connections',
  'keys',
  'sandbox',
  'actions',
] as const;

/**
 * Scripts and styles come from this service only, nothing is inline, and no text becomes markup: a partner's text cannot
 * run as a script.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file as it is and compressed, each with its entity tag. */
interface StaticFile {
  readonly plain: Variant;
  readonly gzip: Variant;
}

interface Variant {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** Serves the built admin console at `/console`. The files, under 1 MB, are read at the first request. */
export function serveConsole(app: NestExpressApplication): void {
  const adapter: HttpServer = app.getHttpAdapter();
  let files: Promise<ReadonlyMap<string, StaticFile>> | undefined;
  const open = async (name: string) => (await (files ??= readStaticFiles())).get(name);
  const page = async (request: Request, response: Response) => {
    const file = await open('index.html');
    if (file === undefined) throw new AppError('notFound', 'the console is not built: run npm run build');
    response.set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Cache-Control': 'no-cache' });
    sendStatic(request, response, file, '.html');
  };
  for (const path of ['', ...CONSOLE_PAGES.map((name) => `/${name}`)]) adapter.get(`/console${path}`, page);
  adapter.get('/console/assets/:name', async (request: Request, response: Response) => {
    const name = String(request.params['name']);
    const file = await open(`assets/${name}`);
    if (file === undefined) throw new AppError('notFound', `the console has no file ${name}`);
    response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    sendStatic(request, response, file, extname(name));
  });
}

/** The files of the build by name; empty without a build. */
async function readStaticFiles(): Promise<ReadonlyMap<string, StaticFile>> {
  const root = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist/console');
  const names = await readdir(join(root, 'assets')).catch(() => []);
  const paths = names.length === 0 ? [] : ['index.html', ...names.map((name) => `assets/${name}`)];
  const plain = paths.filter((path) => !path.endsWith('.gz'));
  const read = async (path: string): Promise<Variant> => {
    const bytes = await readFile(join(root, path));
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
  };
  return new Map(
    await Promise.all(
      plain.map(async (path) => [path, { plain: await read(path), gzip: await read(`${path}.gz`) }] as const),
    ),
  );
}

function sendStatic(request: Request, response: Response, file: StaticFile, type: string): void {
  const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
  const { bytes, etag } = isCompressed ? file.gzip : file.plain;
  response.set({ ETag: etag, Vary: 'Accept-Encoding' });
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.set({ 'Content-Type': TYPES[type] ?? 'application/octet-stream', 'Content-Length': String(bytes.length) });
  response.end(bytes);
}
