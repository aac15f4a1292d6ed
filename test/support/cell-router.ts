import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestApp } from './app.js';
import { held } from './held.js';

/** A request that a cell has received. */
export interface RoutedRequest {
  readonly cell: string;
  readonly path: string;
  readonly cookie: string;
}

export interface CellRouter {
  readonly url: string;
  readonly requests: readonly RoutedRequest[];
  close(): Promise<void>;
}

type Cells = Readonly<Record<string, Pick<TestApp, 'url'>>>;

/** Routes as `deploy/cells` does for a browser: by the path, then by the cookie; everything else to the cell a. */
export async function startCellRouter(cells: () => Cells): Promise<CellRouter> {
  const requests: RoutedRequest[] = [];
  const server = createServer((request, response) => {
    const { method = 'GET', headers, url: path = '/' } = request;
    const { cookie = '' } = headers;
    const cell = /^\/cells\/(\w+)\//.exec(path)?.[1] ?? /haulbridge_cell=(\w+)/.exec(cookie)?.[1] ?? 'a';
    requests.push({ cell, path, cookie });
    const target = new URL(cells()[cell]?.url ?? '');
    const onward = httpRequest({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: held(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }),
  };
}
