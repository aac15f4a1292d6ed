import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HotPathPool } from '../../src/database/pools.js';
import { ExchangeWriter } from '../../src/exchanges/exchange-writer.js';
import type { ExchangeRow } from '../../src/exchanges/exchange-row.js';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ACCEPTED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const SHUTDOWN = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

/** A PostgreSQL server that accepts a connection and ends it in the same packet, as one that is being stopped does. */
let server: Server;
let connections = 0;
let env: { DATABASE_URL: string };
beforeEach(async () => {
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([ACCEPTED, READY, SHUTDOWN])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  env = { DATABASE_URL: `postgres://user@127.0.0.1:${(server.address() as AddressInfo).port}/none` };
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

// An error event without a listener would fail the test, and end the service.
test.each([
  [
    'the log of exchanges',
    () => new ExchangeWriter(env),
    (writer: ExchangeWriter) => writer.write([{ line: '' } as ExchangeRow]),
  ],
  [
    'the hot path',
    () => new HotPathPool(env as ConstructorParameters<typeof HotPathPool>[0]),
    (pool: HotPathPool) => pool.use((connection) => connection.query('SELECT 1', [])),
  ],
])('%s survives a server that stops in the moment in which it accepts a connection', async (_, create, use) => {
  const pool = create();
  for (let i = 0; i < 3; i++) await expect((use as (on: unknown) => Promise<unknown>)(pool)).rejects.toThrow();
  expect(connections).toBeGreaterThanOrEqual(3);
  await pool.onApplicationShutdown();
});
