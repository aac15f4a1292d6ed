import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONSOLE_PAGES } from '../../contracts/admin/console-pages.values.js';
import { isRead, serveFolder } from '../../core/http/serve-folder.js';

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
  // A blob is a preview that a script of the page has read.
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** All have the same file, whose script reads the address. */
const PAGES: ReadonlySet<string> = new Set(Object.keys(CONSOLE_PAGES));
const PAGE_FILE = 'index.html';
const PAGE = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Cache-Control': 'no-cache' };
const ASSET = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** The calls of the console, and the scripts and styles of its page. */
const NO_PAGE = /^(api|assets)(\/|$)/;

/** Serves the built admin console at `/console`. */
export function serveConsole(app: NestExpressApplication): void {
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
  });
}
