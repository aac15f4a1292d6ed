import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallOptions, type Reply, send } from '../../support/http.js';

/** A running service: the target of the tier, or one that a test has started. */
export interface Service {
  readonly url: string;
  readonly adminToken: string;
}

/** The service of `ACCEPTANCE_URL`. Every test file may use it: it makes a hauler of its own there. */
export const target: Service = {
  get url() {
    const url = process.env['ACCEPTANCE_URL'];
    if (url === undefined) throw new Error('start the tier with `npm run test:acceptance`');
    return url.replace(/\/$/, '');
  },
  get adminToken() {
    return process.env['ACCEPTANCE_ADMIN_TOKEN'] ?? process.env['ADMIN_TOKEN'] ?? tokenOfFolder();
  },
};

/** The token that `npm start` generated in this folder. */
function tokenOfFolder(): string {
  const file = join(import.meta.dirname, '../../../data/secrets.json');
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { adminToken: string }).adminToken;
  } catch {
    throw new Error('name the admin token of the service in ACCEPTANCE_ADMIN_TOKEN');
  }
}

/** Any call, by its whole path. */
export const call = <Body = Record<string, never>>(
  method: string,
  path: string,
  options: CallOptions = {},
  service = target,
): Promise<Reply<Body>> => send<Body>(service.url + path, method, options);

/** A call of the admin API, `path` below `/admin/v1`. */
export const admin = <Body = Record<string, never>>(
  method: string,
  path: string,
  body?: unknown,
  service = target,
): Promise<Reply<Body>> =>
  call<Body>(method, `/admin/v1${path}`, { headers: { Authorization: `Bearer ${service.adminToken}` }, body }, service);

/** How often a read is sent again that was refused because too many reads were running (decision 13). */
const MAX_READS = 5;

/** The body of an admin call that has to succeed. */
export async function administer<Body>(method: string, path: string, body?: unknown, service = target): Promise<Body> {
  let reply = await admin<Body>(method, path, body, service);
  for (let sent = 1; reply.status === 503 && method === 'GET' && sent < MAX_READS; sent++) {
    await delay(Number(reply.headers.get('retry-after')) * 1_000);
    reply = await admin<Body>(method, path, body, service);
  }
  if (reply.status >= 300) throw new Error(`${method} ${path} answers ${reply.status}: ${reply.text}`);
  return reply.body;
}

/** The body of a read of the admin API. */
export const read = <Body>(path: string, service = target): Promise<Body> =>
  administer<Body>('GET', path, undefined, service);

/** All elements of an admin list, whatever its number of pages. */
export async function listed<Element>(path: string, service = target): Promise<Element[]> {
  const all: Element[] = [];
  for (let page = 1; ; page++) {
    const where = `${path}${path.includes('?') ? '&' : '?'}page=${page}&pageSize=100`;
    const { data } = await administer<{ data: Element[] }>('GET', where, undefined, service);
    all.push(...data);
    if (data.length < 100) return all;
  }
}
