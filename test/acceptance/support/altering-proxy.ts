import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { held } from '../../support/held.js';

/** A way to a database that can change what the service sends there. */
export interface AlteringProxy {
  readonly url: string;
  /** From now on replaces a text with one of the same length. Undefined: sends everything as it is. */
  replace(change: readonly [text: string, by: string] | undefined): void;
}

/** Statements that are changed so that the database refuses them are errors that the service does not expect. */
export async function startAlteringProxy(databaseUrl: string): Promise<AlteringProxy> {
  const url = new URL(databaseUrl);
  let change: readonly [string, string] | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(url.port), url.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      database.write(change === undefined ? bytes : Buffer.from(text.replaceAll(...change), 'latin1'));
    });
    client.on('close', () => database.destroy());
    database.on('close', () => client.destroy());
    database.pipe(client);
  });
  held(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await Promise.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, replace: (next) => void (change = next) };
}
