import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEnv } from '../../src/core/config/env.js';
import { Database } from '../../src/core/database/database.js';
import { Pool } from '../../src/core/database/pool.js';
import { reasonOf } from '../../src/core/database/reason.js';
import { DatabaseStage } from '../support/database-stage.js';
import { held } from '../support/held.js';
import { requireLinux } from '../support/programs.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const folder = join(import.meta.dirname, '../support/tls');
/** Signed by itself, for `localhost` and 127.0.0.1. */
const CERTIFICATE = join(folder, 'certificate.pem');
const key = readFileSync(join(folder, 'key.pem'));

interface TlsDatabase {
  readonly port: number;
  stop(): Promise<void>;
}

/** Takes the TLS of a client, as a PostgreSQL with `ssl = on` does, and passes what is in it to the database. */
async function startTlsDatabase(databaseUrl: string, certificate = 'certificate'): Promise<TlsDatabase> {
  const cert = readFileSync(join(folder, `${certificate}.pem`));
  const { hostname, port: target } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client
      .on('error', () => undefined)
      .once('data', () => {
        client.write('S');
        const secure = new TLSSocket(client, { isServer: true, cert, key });
        const plain = connect({ host: hostname, port: Number(target) });
        for (const one of [secure, plain]) one.on('error', () => client.destroy());
        secure.pipe(plain).pipe(secure);
        client.once('close', () => plain.destroy());
      });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: held(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    }),
  };
}

/** Databases as operators run them: what was reported, and what the service does. */
let plain: TestDatabase;
let tls: TlsDatabase;
beforeAll(async () => {
  plain = await createTestDatabase({ migrated: false });
  tls = await startTlsDatabase(plain.url);
});
afterAll(async () => {
  await tls.stop();
  await plain.drop();
});

const poolOf = (databaseUrl: string): Pool =>
  new Pool({
    databaseUrl,
    applicationName: 'field',
    connections: 1,
    statementTimeoutMs: 2_000,
    transactionIdleMs: 4_000,
    isPipelined: false,
    idleMs: 0,
  });

// Source: a firewall between the service and the database forgot silent connections after 240 s: after each quiet hour
// every third call was 503.
test('the connections of the service are probed by the kernel each minute, and closed before 240 s', async () => {
  requireLinux();
  const stage = await DatabaseStage.open();
  const { hot, general, bulk, exchanges } = stage.service.app.get(Database);
  for (const { options } of [hot, general, bulk, exchanges]) {
    expect(options.idleMs).toBeGreaterThan(0);
    expect(options.idleMs).toBeLessThan(240_000);
  }
  expect((await stage.pushTicket()).status).toBe(200);
  const timers = keepAliveTimers(stage.proxy.port);
  expect(timers.length).toBeGreaterThan(0);
  for (const seconds of timers) expect(seconds).toBeLessThanOrEqual(60);
  await stage.close();
});

/** Seconds until the keepalive probe of each connection to a port of this machine; `Infinity` where there is none. */
function keepAliveTimers(port: number): number[] {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, , remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    // 01 is ESTABLISHED; the timer 02 is that of keepalive, in hundredths of a second. 01 is a packet that is not confirmed yet.
    if (!remote.endsWith(hex) || state !== '01' || timer.startsWith('01:')) return [];
    return [timer.startsWith('02:') ? Number.parseInt(timer.slice(3), 16) / 100 : Infinity];
  });
}

/** Asks whether the connection uses TLS, as the service reads its variables: `on`, or the sentence of the start. */
async function connected(host: string, query: string, ca?: string, { port } = tls): Promise<string> {
  const url = new URL(plain.url);
  url.host = `${host}:${port}`;
  const { DATABASE_URL = '' } = readEnv({
    DATABASE_URL: `${url.href}${query}`,
    ADMIN_TOKEN: 'a token of 16 letters',
    SECRETS_KEY: '5a'.repeat(32),
    ...(ca === undefined ? {} : { DATABASE_CA: ca }),
  });
  const pool = poolOf(DATABASE_URL);
  try {
    const [row] = await pool.query<{ one: number }>('SELECT 1 AS one');
    return row?.one === 1 ? 'connected' : 'no row';
  } catch (error) {
    return reasonOf(error);
  } finally {
    await pool.close();
  }
}

const NAMES_CA =
  /signed by itself or by an unknown authority\. Name the file .* DATABASE_CA, or by sslrootcert in DATABASE_URL\.$/;
const NAMES_MODE = /127\.0\.0\.2.*sslmode=verify-ca with DATABASE_CA, which does not check the name\.$/;

// Source: the certificate of a managed database, or the own one of a server: "self-signed certificate".
test.each<[string, string, string | undefined, RegExp]>([
  ['127.0.0.1', '?sslmode=require', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-full', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-ca', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=prefer', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=no-verify', undefined, /^connected$/],
  ['127.0.0.1', '', CERTIFICATE, /^connected$/],
  ['127.0.0.1', '?sslmode=require', CERTIFICATE, /^connected$/],
  ['127.0.0.1', `?sslmode=verify-full&sslrootcert=${encodeURIComponent(CERTIFICATE)}`, undefined, /^connected$/],
  ['127.0.0.2', '', CERTIFICATE, NAMES_MODE],
  ['127.0.0.2', '?sslmode=verify-full', CERTIFICATE, NAMES_MODE],
  ['127.0.0.2', '?sslmode=verify-ca', CERTIFICATE, /^connected$/],
])('a database at %s with %s and DATABASE_CA %s', async (host, query, ca, expected) => {
  expect(await connected(host, query, ca)).toMatch(expected);
});

test('an expired certificate of the database', async () => {
  const expired = await startTlsDatabase(plain.url, 'expired');
  const ca = CERTIFICATE.replace('certificate.pem', 'root.pem');
  expect(await connected('127.0.0.1', '', ca, expired)).toMatch(
    /^DATABASE_URL: .* its certificate has expired\. Renew /,
  );
  await expired.stop();
});

test.each(['disable', 'no-verify'])('DATABASE_CA beside sslmode=%s is refused', async (mode) => {
  await expect(connected('127.0.0.1', `?sslmode=${mode}`, CERTIFICATE)).rejects.toThrow('DATABASE_CA is not used with');
});
