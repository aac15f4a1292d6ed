import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How often a stopping server looks for connections that have become idle since: their callers expect no end of them. */
const LOOK_MS = 50;

/**
 * Node.js takes a connection for idle as soon as its answer is ended, and closing it would cut off what the caller has not
 * received of it. While there is such an answer all are spared: the stop has to wait for it in any case.
 */
export function spareUnsent(server: Server): void {
  const sockets = new Set<Socket>();
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if ([...sockets].every(({ writableLength }) => writableLength === 0)) closeIdle();
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

/** Accepts no connection any more; resolves when all are closed, each as soon as it is idle. */
export function closeAsAnswered(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS);
    server.close(() => {
      clearInterval(look);
      resolve();
    });
  });
}
