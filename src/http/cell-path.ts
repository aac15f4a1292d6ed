import type { RequestHandler } from 'express';
import { cellPath } from '../config/cell-path.js';

/** Serves every path below `/cells/<cell>` too. The path of another cell remains, and no route has it. */
export function stripCellPath(cell: string): RequestHandler {
  const prefix = `${cellPath(cell)}/`;
  return (request, _response, next) => {
    if (request.url.startsWith(prefix)) request.url = request.url.slice(prefix.length - 1);
    next();
  };
}

/** The cell in the path with which a request came. */
export const cellInPath = ({ originalUrl }: { readonly originalUrl: string }): string | undefined =>
  /^\/cells\/([a-z0-9]{1,12})\//.exec(originalUrl)?.[1];
