import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { held } from '../../support/held.js';

const folder = join(import.meta.dirname, '../../support/tls');
export const KEY_FILE = join(folder, 'key.pem');
/** Signed by itself, for `localhost` and 127.0.0.1. */
export const CERTIFICATE = join(folder, 'certificate.pem');
const key = readFileSync(KEY_FILE);

export interface TlsDatabase {
  readonly port: number;
  stop(): Promise<void>;
}

/** Takes the TLS of a client, as a PostgreSQL with `ssl = on` does, and passes what is in it to the database. */
export async function startTlsDatabase(databaseUrl: string, certificate = 'certificate'): Promise<TlsDatabase> {
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
