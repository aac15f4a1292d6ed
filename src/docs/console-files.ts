import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import { CONSOLE_PAGES } from '../contracts/admin/console-pages.values.js';
import { cellPath } from '../config/cell-path.js';
import { cellInPath } from '../http/cell-path.js';
import { isRead, serveFolder } from '../http/serve-folder.js';

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

/** All have the same file, whose script reads the address. */
const PAGES: ReadonlySet<string> = new Set(Object.keys(CONSOLE_PAGES));
const PAGE_FILE = 'index.html';
const PAGE = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Cache-Control': 'no-cache' };
const ASSET = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** The calls of the console, and the scripts and styles of its page. */
const NO_PAGE = /^(api|assets)(\/|$)/;

/** Serves the built admin console at `/console`. */
export function serveConsole(app: NestExpressApplication, ownCell: string | undefined): void {
  if (ownCell !== undefined) app.use('/console', leadToCell);
  serveFolder(app, '/console', 'console', {
    namesOf(path, request, response) {
      if (NO_PAGE.test(path)) return [path];
      if (!PAGES.has(path)) {
        if (!isRead(request)) return [];
        // A mistyped address gets the page too, which says so, beside the status of an address that does not exist.
        delete request.headers['if-none-match'];
        response.status(404);
      }
      return [PAGE_FILE];
    },
    headersOf: (name) => (name === PAGE_FILE ? PAGE : ASSET),
    edit: (name, bytes) => (name === PAGE_FILE ? pageOfCell(bytes, ownCell) : bytes),
  });
}

/** The pages have one address in all cells: the cookie leads the proxy to this one, also from a link of another site. */
const leadToCell: RequestHandler = (request, response, next) => {
  const cell = cellInPath(request);
  if (cell === undefined || !isRead(request) || NO_PAGE.test(request.path.slice(1))) {
    next();
    return;
  }
  response.cookie(CELL_COOKIE, cell, { sameSite: 'lax', path: '/', secure: request.secure });
  response.redirect(302, request.originalUrl.slice(cellPath(cell).length));
};

/** The page of a cell names it, and calls nothing but its cell: another tab may have switched to another one meanwhile. */
function pageOfCell(page: Buffer, cell: string | undefined): Buffer {
  if (cell === undefined) return page;
  const text = page.toString().replaceAll('"/console/', `"${cellPath(cell)}/console/`);
  return Buffer.from(text.replace('id="console"', `$& data-cell="${cell}"`));
}
