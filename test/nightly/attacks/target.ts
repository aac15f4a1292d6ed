import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** The service that is attacked. Only its public interfaces are used, and `/proc` where its process is known. */
export interface Target {
  readonly url: string;
  readonly adminToken: string;
  readonly readToken?: string | undefined;
  /** Its descriptors and memory are measured on Linux. */
  readonly pid?: number | undefined;
  /** How many connections, calls and seconds: 1 is the complete form. */
  readonly scale: number;
}

/** What an attack achieved. `faults` is empty if the service held. */
export interface Outcome {
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number | string>>;
}

export interface Attack {
  /** The row of the list of attacks. */
  readonly row: string;
  readonly title: string;
  run(target: Target): Promise<Outcome>;
}

export interface Reply {
  /** 0 without a response. */
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ms: number;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An address of this machine from which the call comes. */
  readonly from?: string;
}

const CALL_MS = 30_000;

/** One call on a connection of its own. */
export function call({ url }: Target, path: string, options: Call = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body, from = '127.0.0.1' } = options;
  const start = performance.now();
  return new Promise((resolve) => {
    const sent = request(new URL(path, url), { method, headers, localAddress: from, agent: false, timeout: CALL_MS });
    const end = (status: number, text: string, received: Reply['headers'] = {}) =>
      resolve({ status, text, headers: received, ms: Math.round(performance.now() - start) });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', (error) => end(0, error.message));
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', (error) => end(0, error.message));
      response.on('end', () => end(response.statusCode ?? 0, text, response.headers));
    });
    sent.end(body);
  });
}

/** A call of the admin API with a JSON body. */
export function admin(target: Target, method: string, path: string, body?: unknown): Promise<Reply> {
  return call(target, `/admin/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${target.adminToken}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The JSON of a reply that must have this status. */
export function json<T>({ status, text }: Reply, expected: number): T {
  if (status !== expected) throw new Error(`expected ${expected}, received ${status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

export interface Partner {
  readonly haulerId: string;
  readonly key: string;
}

/** A hauler with a key for accounts: the calls of a caller who must not notice the attack. */
export async function honestPartner(target: Target): Promise<Partner> {
  const hauler = json<{ id: string }>(await admin(target, 'POST', '/haulers', { name: 'Honest' }), 201);
  const order = { haulerId: hauler.id, interfaces: ['account'] };
  const { key } = json<{ key: string }>(await admin(target, 'POST', '/api-keys', order), 201);
  return { haulerId: hauler.id, key };
}

/** Creates an account. */
export function pushAccount(target: Target, { key }: Partner, accountName: string, id: string): Promise<Reply> {
  return call(target, '/platform-api/v1/accounts', {
    method: 'POST',
    headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json', 'X-Request-Id': id },
    body: JSON.stringify({ accountName }),
  });
}

/** Opens a connection that sends `text`, and reads nothing. Undefined if the service refuses it. */
export async function silentConnection(target: Target, text: string, from?: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), ...(from === undefined ? {} : { localAddress: from }) });
  socket.on('error', () => undefined);
  socket.pause();
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  socket.write(text);
  return socket;
}

/** Opens `count` such connections, `atOnce` at a time. */
export async function silentConnections(
  target: Target,
  { count, text, from, atOnce = 50 }: { count: number; text: string; from?: string; atOnce?: number },
): Promise<Socket[]> {
  const all: Socket[] = [];
  for (let done = 0; done < count; done += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - done) }, () => silentConnection(target, text, from));
    all.push(...(await Promise.all(some)).filter((socket) => socket !== undefined));
  }
  return all;
}

/** The same request `times` times in a row, without waiting for a response. */
export const pipelined = (path: string, times = 64): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times);

/** Open descriptors of the service; undefined where they cannot be read. */
export function descriptors({ pid }: Target): number | undefined {
  if (pid === undefined) return undefined;
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}

/** Resident memory of the service in MiB. */
export function residentMiB({ pid }: Target): number | undefined {
  if (pid === undefined) return undefined;
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Calls `check` until it is true, at most `ms` milliseconds, and returns whether it was. */
export async function becomes(check: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await delay(200);
  }
}

/** Collects what did not hold. */
export class Faults {
  readonly found: string[] = [];

  expect(isHeld: boolean, otherwise: string): void {
    if (!isHeld) this.found.push(otherwise);
  }

  outcome(figures: Outcome['figures'] = {}): Outcome {
    return { faults: this.found, figures };
  }
}

/** The numbers of the complete form, reduced for a quick run. */
export const scaled = ({ scale }: Target, count: number, min = 1): number => Math.max(min, Math.round(count * scale));
