import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { CONSOLE_PAGES } from '../contracts/admin/console-pages.values.js';
import { AppError } from '../errors/app-error.js';
import { cellPath } from '../config/cell-path.js';
import { cellInPath } from '../http/cell-path.js';
import { isMissing, readOnce, sendStatic, type StaticFile, staticFile } from '../http/static-files.js';

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

/** Read by the proxy: `deploy/cells`. */
const CELL_COOKIE = 'haulbridge_cell';

const PAGE = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Cache-Control': 'no-cache' };
const ASSET = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** Serves the built admin console at `/console`. The files, under 1 MB, are read at the first request. */
export function serveConsole(app: NestExpressApplication, ownCell: string | undefined): void {
  const adapter: HttpServer = app.getHttpAdapter();
  const files = readOnce(() => readStaticFiles(ownCell));
  const open = async (name: string) => (await files()).get(name);
  const page = async (request: Request, response: Response) => {
    const cell = cellInPath(request);
    if (cell !== undefined) {
      // The pages have one address in all cells: the cookie leads the proxy to this one, also from a link of another site.
      response.cookie(CELL_COOKIE, cell, { sameSite: 'lax', path: '/', secure: request.secure });
      response.redirect(302, request.originalUrl.slice(cellPath(cell).length));
      return;
    }
    const file = await open('index.html');
    if (file === undefined) throw new AppError('notFound', 'the console is not built: run npm run build');
    sendStatic(request, response, file);
  };
  // All pages have the same file, whose script reads the address.
  for (const name of Object.keys(CONSOLE_PAGES)) adapter.get(name === '' ? '/console' : `/console/${name}`, page);
  adapter.get('/console/assets/:name', async (request: Request, response: Response) => {
    const name = String(request.params['name']);
    const file = await open(`assets/${name}`);
    if (file === undefined) throw new AppError('notFound', `the console has no file ${name}`);
    sendStatic(request, response, file);
  });
  // A mistyped address gets the page too, which says so, beside the status of an address that does not exist.
  app.use('/console', (request: Request, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' || /^\/(api|assets)\//.test(request.path)) return next();
    delete request.headers['if-none-match'];
    page(request, response.status(404)).catch(next);
  });
}

/** The page of a cell names it, and calls nothing but its cell: another tab may have switched to another one meanwhile. */
function pageOfCell(page: string, cell: string | undefined): Buffer {
  if (cell === undefined) return Buffer.from(page);
  return Buffer.from(
    page.replaceAll('"/console/', `"${cellPath(cell)}/console/`).replace('id="console"', `$& data-cell="${cell}"`),
  );
}

/** The files of the build by name; empty without a build. */
async function readStaticFiles(cell: string | undefined): Promise<ReadonlyMap<string, StaticFile>> {
  const root = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist/console');
  const names = await readdir(join(root, 'assets')).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const paths = names.length === 0 ? [] : ['index.html', ...names.map((name) => `assets/${name}`)];
  const read = async (path: string) =>
    path === 'index.html'
      ? staticFile(path, pageOfCell(await readFile(join(root, path), 'utf8'), cell), PAGE)
      : staticFile(path, await readFile(join(root, path)), ASSET);
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
}
