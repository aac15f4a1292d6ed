import { parse } from 'node:querystring';
import type { Request, RequestHandler } from 'express';

/** A percent sign that is not part of an escape. */
const STRAY_PERCENT = /%(?![0-9a-f]{2})/gi;

/** Replaces bytes that are not UTF-8: every text field refuses U+0000. */
const INVALID_TEXT = '\0';

/** A name or address as a host in a URL: IPv6 in brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * The origin that a request names in its `Host` header, or behind a trusted proxy in `X-Forwarded-Host` and
 * `X-Forwarded-Proto`; the local address if the header is not a host.
 */
export function requestedOrigin(request: Request): string {
  // Undefined without a Host header, in spite of its type.
  const host = (request.host as string | undefined) ?? '';
  const { localAddress = '', localPort } = request.socket;
  const known = /^[\w.:[\]-]{1,255}$/.test(host) ? host : `${urlHost(localAddress)}:${localPort}`;
  // A proxy may pass on what its caller wrote in X-Forwarded-Proto.
  return `${request.protocol === 'https' ? 'https' : 'http'}://${known}`;
}

/**
 * Reads invalid percent-encoding in a path, such as `%zz`, as plain text. Express would refuse it before the guards run; this
 * way it is an unknown id (decision 3).
 */
export const decodePathLiterally: RequestHandler = (request, _response, next) => {
  if (request.url.includes('%')) {
    const [path = '', ...query] = request.url.split('?');
    request.url = [validPath(path), ...query].join('?');
  }
  next();
};

/** Decodes a path once at most: each failed attempt throws, and a path may have thousands of escapes. */
function validPath(path: string): string {
  const escaped = path.replaceAll(STRAY_PERCENT, '%25');
  return isDecodable(escaped) ? escaped : path.replaceAll('%', '%25');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses a query like Express's simple parser, with two differences. Bytes that are not UTF-8 do not become U+FFFD, which
 * is valid text (decision 8). Parameters after the first 1,000 are not dropped: the limit of the headers bounds them.
 */
export const parseQuery = (text: string) =>
  parse(text, undefined, undefined, { decodeURIComponent: decode, maxKeys: 0 });

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(STRAY_PERCENT, '%25'));
  } catch {
    return INVALID_TEXT;
  }
}
