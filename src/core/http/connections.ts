import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Call } from './call.js';

export interface ConnectionLimits {
  /** Open connections of all callers. */
  readonly connections: number;
  /** Of one address; a trusted proxy, which has the connections of many callers, has no such limit. */
  readonly connectionsPerAddress: number;
  /** Further connections if no other can be closed: for health checks and administrators alone. */
  readonly reservedConnections: number;
  /** Bytes of complete responses that callers have not received. An address may have a quarter of them. */
  readonly unreadBytes: number;
}

/** IPv6 callers have a whole network of this size. */
const IPV6_NETWORK_BITS = 64;

/** Interval of the check for unread responses. */
const UNREAD_CHECK_MS = 50;

/** An open connection. It serves one request at a time, so that a response always belongs to an open connection. */
export class Connection {
  /** The response that is being computed or sent. */
  current: ServerResponse | undefined;
  /** Whether it ends with that response, because a further request came meanwhile. */
  isLast = false;
  /** An error of the parser, which is answered after that response. */
  parseError: NodeJS.ErrnoException | undefined;

  /** `peer` is the network of the caller, or the socket itself for a trusted proxy. */
  constructor(
    readonly socket: Socket,
    readonly peer: string | Socket,
    readonly isReserved: boolean,
  ) {}

  /** Bytes of the complete response that the caller has not received. */
  get unreadBytes(): number {
    return this.current?.writableEnded === true ? this.socket.writableLength : 0;
  }

  /** The lowest rank is closed first for another connection; undefined while the service works for this one. */
  get closingRank(): number | undefined {
    if (this.current === undefined) return this.peer === this.socket ? 1 : 0;
    const { mayBeClosed = false } = (this.current.req as { readonly call?: Call }).call ?? {};
    return mayBeClosed || this.current.writableEnded ? 2 : undefined;
  }
}

/** The open connections of a server. If places are short, those that wait for their caller are closed, oldest first. */
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();
  /** In the order of their last request or response. */
  private readonly all = new Set<Connection>();
  private readonly countOf = new Map<string | Socket, number>();
  private unreadCheck: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly isProxy: (address: string) => boolean,
  ) {}

  of(socket: Socket): Connection | undefined {
    return this.bySocket.get(socket);
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.all.values();
  }

  /** Destroys the socket if there is no place for it. */
  admit(socket: Socket): Connection | undefined {
    const { connections, reservedConnections } = this.limits;
    const address = socket.remoteAddress ?? '';
    const peer = this.isProxy(address) ? socket : ipKeyGenerator(address, IPV6_NETWORK_BITS);
    const hasPlace = this.makePlace(peer);
    if (!hasPlace && this.all.size >= connections + reservedConnections) {
      socket.destroy();
      return undefined;
    }
    const connection = new Connection(socket, peer, !hasPlace);
    this.bySocket.set(socket, connection);
    this.all.add(connection);
    this.countOf.set(peer, (this.countOf.get(peer) ?? 0) + 1);
    socket.once('close', () => this.remove(connection));
    return connection;
  }

  /** Makes a connection the one that was active last. */
  touch(connection: Connection): void {
    if (this.all.delete(connection)) this.all.add(connection);
  }

  /** Closes connections with unread responses, oldest first, until the limits are kept. Called when a response ends. */
  limitUnread(): void {
    // Later: the bytes of a response leave the process after it has ended.
    this.unreadCheck ??= setTimeout(() => this.closeUnread(), UNREAD_CHECK_MS).unref();
  }

  /** Closes another connection for that of `peer` if there are too many. Returns false if none can be closed. */
  private makePlace(peer: string | Socket): boolean {
    if ((this.countOf.get(peer) ?? 0) >= this.limits.connectionsPerAddress) {
      return this.closeFirst((connection) => connection.peer === peer);
    }
    return this.all.size < this.limits.connections || this.closeFirst(() => true);
  }

  private closeFirst(isCandidate: (connection: Connection) => boolean): boolean {
    let [first, firstRank] = [undefined as Connection | undefined, Infinity];
    for (const connection of this.all) {
      if (!isCandidate(connection)) continue;
      const { closingRank = Infinity } = connection;
      if (closingRank < firstRank) [first, firstRank] = [connection, closingRank];
      if (firstRank === 0) break;
    }
    if (first !== undefined) this.close(first);
    return first !== undefined;
  }

  private closeUnread(): void {
    this.unreadCheck = undefined;
    const { unreadBytes: max } = this.limits;
    const unread = [...this.all].filter(({ unreadBytes }) => unreadBytes > 0);
    const bytesOf = new Map<string | Socket, number>();
    const add = (peer: string | Socket, bytes: number) => bytesOf.set(peer, (bytesOf.get(peer) ?? 0) + bytes);
    for (const { peer, unreadBytes } of unread) add(peer, unreadBytes);
    let total = unread.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
    // A single response may be larger than the limits.
    const lastOf = new Map(unread.map((connection) => [connection.peer, connection]));
    const last = unread.at(-1);
    for (const connection of unread) {
      const { peer, unreadBytes } = connection;
      const hasTooMuch = (bytesOf.get(peer) ?? 0) > max / 4 && connection !== lastOf.get(peer);
      if (!hasTooMuch && (total <= max || connection === last)) continue;
      this.close(connection);
      add(peer, -unreadBytes);
      total -= unreadBytes;
    }
  }

  private close(connection: Connection): void {
    this.remove(connection);
    connection.socket.destroy();
  }

  private remove(connection: Connection): void {
    if (!this.all.delete(connection)) return;
    this.bySocket.delete(connection.socket);
    const count = (this.countOf.get(connection.peer) ?? 1) - 1;
    if (count === 0) this.countOf.delete(connection.peer);
    else this.countOf.set(connection.peer, count);
  }
}
