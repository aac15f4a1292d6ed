import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** On which Node.js tells of each answer that has gone out; without a listener it costs nothing. */
const ANSWERED = 'http.server.response.finish';

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
    socket.once('close', () => {
      sockets.delete(socket);
      if (!server.listening) server.closeIdleConnections();
    });
  });
}

/** Of an answer that had begun before the stop, its caller knows nothing of an end of the connection. */
export function letGoAfterAnswers(server: Server): { end(): void } {
  const answered = (message: unknown) => {
    // Only a moment later the connection counts as idle.
    if ((message as { readonly server: Server }).server === server) setImmediate(() => server.closeIdleConnections());
  };
  subscribe(ANSWERED, answered);
  return { end: () => unsubscribe(ANSWERED, answered) };
}
