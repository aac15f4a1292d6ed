import { Injectable } from '@nestjs/common';
import { formatInstant } from '../contracts/common/instant.js';
import { Database } from '../database/database.js';
import { ExchangeLog } from '../exchanges/exchange-log.service.js';
import { FailingCallsRepository } from '../exchanges/failing-calls.repository.js';
import { RunAttentionRepository } from '../site-sync/sync/run-attention.repository.js';
import { FootageAttentionRepository } from '../vision/recordings/footage-attention.repository.js';
import { connectionStates, endingKeyStates } from './states.repository.js';
import type { Family, LastingState, Seen } from './states.rules.js';

/** Reads the states that last, from the same sources as the list of what needs attention. */
@Injectable()
export class StateReader {
  constructor(
    private readonly database: Database,
    private readonly runs: RunAttentionRepository,
    private readonly calls: FailingCallsRepository,
    private readonly footage: FootageAttentionRepository,
    private readonly log: ExchangeLog,
  ) {}

  /** `announced`: the subjects that were announced, of which it is read whether they are well again. */
  async read(wanted: ReadonlySet<Family>, announced: readonly string[]): Promise<Seen> {
    const families = new Set(wanted);
    // Without every call nobody knows whether the last one was refused.
    if (!this.log.isComplete) families.delete('connection');
    const readers: Readonly<Record<Family, () => Promise<LastingState[]>>> = {
      sync: () => this.syncs(),
      connection: () => this.refusals(),
      recording: () => this.risks(),
      key: () => this.keys(),
    };
    const lasting = (await Promise.all([...families].map((family) => readers[family]()))).flat();
    return { families, lasting, ...(await this.ended(lasting, announced)) };
  }

  private async syncs(): Promise<LastingState[]> {
    const runs = [...(await this.runs.finished()), ...(await this.runs.failed())];
    return runs
      .filter(({ status }) => status !== 'succeeded')
      .map(({ status, hauler_id: haulerId, connection_id: connectionId, run_id: syncRunId }) => ({
        subject: `sync:${connectionId}`,
        topic: status === 'held' ? 'sync.held' : 'sync.failed',
        haulerId,
        connectionId,
        data: { connectionId, syncRunId },
      }));
  }

  private async refusals(): Promise<LastingState[]> {
    const calls = (await this.calls.find()).filter(({ status }) => status === 401);
    const byConnection = new Map(calls.map((call) => [call.connection_id, call]));
    return [...byConnection].map(([connectionId, { hauler_id: haulerId }]) => ({
      subject: `connection:${connectionId}`,
      topic: 'connection.refused',
      haulerId,
      connectionId,
      data: { connectionId },
    }));
  }

  private async risks(): Promise<LastingState[]> {
    const rows = await this.footage.atRisk();
    return rows.map(({ hauler_id: haulerId, connection_id: connectionId, truck_id: truckId }) => ({
      subject: `recording:${connectionId}:${truckId}`,
      topic: 'recording.at_risk',
      haulerId,
      connectionId,
      data: { connectionId, truckId },
    }));
  }

  private async keys(): Promise<LastingState[]> {
    const keys = await endingKeyStates(this.database);
    return keys.map(({ id, first_id: firstKeyId, prefix, hauler_id: haulerId, expires_at: expiresAt, has_ended }) => ({
      subject: `key:${id}`,
      topic: has_ended ? 'key.expired' : 'key.expiring',
      haulerId,
      firstKeyId,
      data: { keyId: id, prefix, expiresAt: formatInstant(expiresAt) },
    }));
  }

  /** Which announced subjects of connections are well again, and of which nothing can be said. */
  private async ended(
    lasting: readonly LastingState[],
    announced: readonly string[],
  ): Promise<Pick<Seen, 'recovered' | 'undecided'>> {
    const still = new Set(lasting.map(({ subject }) => subject));
    const over = announced.filter((subject) => /^(sync|connection):/.test(subject) && !still.has(subject));
    const recovered = new Map<
      string,
      { topic: 'sync.recovered' | 'connection.recovered'; haulerId: string; data: Record<string, string | null> }
    >();
    const undecided = new Set<string>();
    const ids = over.map((subject) => subject.slice(subject.indexOf(':') + 1));
    const connections = over.length === 0 ? [] : await connectionStates(this.database, ids);
    for (const { id, hauler_id: haulerId, enabled, run_id: syncRunId, run_status: status } of connections) {
      const connectionId = id;
      if (status === 'failed') undecided.add(`sync:${id}`);
      else recovered.set(`sync:${id}`, { topic: 'sync.recovered', haulerId, data: { connectionId, syncRunId } });
      if (!enabled) undecided.add(`connection:${id}`);
      else recovered.set(`connection:${id}`, { topic: 'connection.recovered', haulerId, data: { connectionId } });
    }
    return { recovered, undecided };
  }
}
