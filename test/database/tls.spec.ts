import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEnv } from '../../src/config/env.js';
import { Lane } from '../../src/database/lane.js';
import { reasonOf } from '../../src/database/reason.js';
import { held } from '../support/held.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const folder = join(import.meta.dirname, '../support/tls');
const CERTIFICATE = join(folder, 'certificate.pem');
/** The certificate is signed by itself, for `localhost` and 127.0.0.1. */
const [cert, key] = [readFileSync(CERTIFICATE), readFileSync(join(folder, 'key.pem'))];

let database: TestDatabase;
let port = 0;
let stop: () => Promise<void>;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  const { hostname, port: target } = new URL(database.url);
  const sockets = new Set<Socket>();
  // Takes the TLS of a client, as a PostgreSQL with `ssl = on` does, and passes what is in it to the database.
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
  ({ port } = server.address() as AddressInfo);
  stop = held(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
afterAll(async () => {
  await stop();
  await database.drop();
});

/** Asks whether the connection uses TLS, as the service reads its variables: `on`, or the sentence of the start. */
async function connected(host: string, query: string, ca?: string): Promise<string> {
  const url = new URL(database.url);
  url.host = `${host}:${port}`;
  const { DATABASE_URL = '' } = readEnv({
    DATABASE_URL: `${url.href}${query}`,
    ADMIN_TOKEN: 'a token of 16 letters',
    SECRETS_KEY: '5a'.repeat(32),
    ...(ca === undefined ? {} : { DATABASE_CA: ca }),
  });
  const lane = new Lane({
    databaseUrl: DATABASE_URL,
    applicationName: 'tls',
    connections: 1,
    statementTimeoutMs: 4_000,
    transactionIdleMs: 4_000,
    isPipelined: false,
    idleMs: 0,
  });
  try {
    const [row] = await lane.use((session) => session.query<{ one: number }[]>('SELECT 1 AS one', []));
    return row?.one === 1 ? 'connected' : 'no row';
  } catch (error) {
    return reasonOf(error);
  } finally {
    await lane.close();
  }
}

const NAMES_CA =
  /signed by itself or by an unknown authority\. Name the file .* DATABASE_CA, or by sslrootcert in DATABASE_URL\.$/;
const NAMES_MODE = /127\.0\.0\.2.*sslmode=verify-ca with DATABASE_CA, which does not check the name\.$/;

test.each<[string, string, string | undefined, RegExp]>([
  ['127.0.0.1', '?sslmode=require', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-full', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-ca', undefined, NAMES_CA],
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

test.each(['/nowhere.pem', join(folder, 'key.pem')])('DATABASE_CA %s is refused', (path) => {
  expect(() => readEnv({ DATABASE_CA: path })).toThrow('DATABASE_CA must be the path of a readable file');
});
