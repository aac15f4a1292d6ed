import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { MAX_POKES_PER_MINUTE, type Poke, type PokeResult } from '../../contracts/partner/partner-webhooks.routes.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { AppError, apiError, invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import { POLL_CLIPS, READ_SUBSCRIPTIONS } from '../client/vision-connections.repository.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import type { ConnectionKey } from '../truck.js';
import { findPokedParts, pokeParts, pokeTruck } from './pokes.repository.js';

const MINUTE_MS = 60_000;

/** A partner says that something is ready: its poll is due now, and nothing else happens. */
@Injectable()
export class Pokes {
  /** Of each connection in its current minute. */
  private readonly counts = new LRUCache<string, number>({ max: 10_000, ttl: MINUTE_MS, noUpdateTTL: true });

  constructor(
    private readonly clips: ClipsRepository,
    private readonly work: WorkService,
  ) {}

  /** Throws `notFound` for an id that the connection does not have, and `tooManyRequests`. */
  async poke({ requestId, truckId }: Poke, connection: ConnectionKey): Promise<PokeResult> {
    if ((requestId === undefined) === (truckId === undefined)) {
      throw invalid([{ path: 'requestId', rule: 'isOneOf', message: 'send either requestId or truckId' }]);
    }
    this.count(connection.connectionId);
    const polls =
      requestId === undefined
        ? await this.pokeTruck(connection, truckId ?? '')
        : await this.pokeRequest(connection, requestId);
    if (polls === undefined) {
      const what = requestId === undefined ? `truck ${truckId}` : `clip request ${requestId}`;
      throw apiError(PARTNER_API, 'notFound', `the connection has no ${what}`);
    }
    return { polls };
  }

  private async pokeRequest(connection: ConnectionKey, requestId: string): Promise<number | undefined> {
    const polls = await this.clips.inTransaction(async (transaction) => {
      const parts = await findPokedParts(transaction, connection, requestId);
      const waiting = parts.filter(({ status }) => status === 'processing');
      const [first] = waiting;
      if (first === undefined) return parts.length === 0 ? undefined : 0;
      // Locks are taken in the order of a poll round: the poll, then parts.
      await this.clips.schedulePoll(transaction, first, 0);
      return pokeParts(
        transaction,
        connection.haulerId,
        waiting.map(({ id }) => id),
      );
    });
    this.work.runDue(POLL_CLIPS);
    return polls;
  }

  private async pokeTruck(connection: ConnectionKey, truckId: string): Promise<number | undefined> {
    const polls = await this.clips.inTransaction((transaction) => pokeTruck(transaction, connection, truckId));
    this.work.runDue(READ_SUBSCRIPTIONS);
    return polls;
  }

  private count(connectionId: string): void {
    const count = (this.counts.get(connectionId) ?? 0) + 1;
    this.counts.set(connectionId, count);
    if (count <= MAX_POKES_PER_MINUTE) return;
    const seconds = Math.max(1, Math.ceil(this.counts.getRemainingTTL(connectionId) / 1_000));
    throw new AppError('tooManyRequests', `a connection may be poked ${MAX_POKES_PER_MINUTE} times a minute`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }
}
