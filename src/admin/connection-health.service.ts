import { Inject, Injectable } from '@nestjs/common';
import { ENV, type Env } from '../core/config/env.js';
import type { Connection, ConnectionHealth } from '../contracts/admin/connections.routes.js';
import { type Hauler, HaulerHealth } from '../contracts/admin/haulers.routes.js';
import { formatInstant } from '../contracts/common/instant.js';
import { present } from '../contracts/common/present.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import { reasonSentence } from '../exchanges/explanation.rules.js';
import { ConnectionHealths, type HealthRow } from './connection-health.repository.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Says of connections whether their partners answer, and of haulers how they fare, when they are read. */
@Injectable()
export class ConnectionHealthService {
  constructor(
    @Inject(ENV) private readonly env: Pick<Env, 'EXCHANGE_LOG'>,
    private readonly healths: ConnectionHealths,
  ) {}

  /** The last 24 hours begin with a whole one, as a list of exchanges from that time does. */
  async with(connections: readonly Connection[]): Promise<Connection[]> {
    const since = firstHour();
    const rows = await this.healths.find(connections, since);
    return connections.map((connection) => {
      const row = rows.get(connection.id);
      if (row === undefined) return connection;
      const { enabled, nextRunAt } = connection;
      const next = enabled && row.next_at !== null ? formatInstant(row.next_at) : nextRunAt;
      return {
        ...connection,
        nextRunAt: next,
        health: healthOf(connection, this.isCounted() ? row : undefined, since),
      };
    });
  }

  async ofConnection(connection: Connection): Promise<Connection> {
    return (await this.with([connection]))[0] ?? connection;
  }

  async ofHauler(hauler: Hauler): Promise<Hauler> {
    return (await this.ofHaulers([hauler]))[0] ?? hauler;
  }

  async ofHaulers(haulers: readonly Hauler[]): Promise<Hauler[]> {
    const ids = haulers.map(({ id }) => id);
    const rows = await this.healths.ofHaulers(ids, firstHour(), this.isCounted());
    return haulers.map((hauler) => ({ ...hauler, health: present(HaulerHealth, rows.get(hauler.id) ?? {}) }));
  }

  /** Calls that are not logged are not counted. */
  private isCounted(): boolean {
    return this.env.EXCHANGE_LOG === 'all';
  }
}

const firstHour = (): Date => new Date((Math.floor(Date.now() / HOUR_MS) + 1 - HOURS) * HOUR_MS);

const atOf = (id: string | null | undefined): string | null =>
  id == null ? null : formatInstant(new Date(timeOfUuidv7(id)));

/** By the last call; a site connection may fail for what a call that succeeded returned. */
function healthOf({ enabled, lastError }: Connection, row: HealthRow | undefined, since: Date): ConnectionHealth {
  const { calls = 0, failed = 0, success_id: success = null, failure_id: failure = null } = row ?? {};
  const isLastFailed = failure !== null && (success === null || failure > success);
  const isFailing = lastError !== null || isLastFailed;
  const isKnown = success !== null || failure !== null;
  return {
    state: !enabled ? 'paused' : isFailing ? 'failing' : isKnown ? 'working' : 'unknown',
    lastSuccessAt: atOf(success),
    lastFailureAt: atOf(failure),
    ...(failure === null ? {} : { lastFailureId: failure }),
    ...reasonOf(lastError, row),
    since: formatInstant(since),
    calls,
    failedCalls: failed,
  };
}

function reasonOf(lastError: string | null, row: HealthRow | undefined): Pick<ConnectionHealth, 'lastFailure'> {
  if (lastError !== null) return { lastFailure: lastError };
  if (row?.reason == null || row.status === null) return {};
  return { lastFailure: reasonSentence({ direction: 'outbound', reason: row.reason, status: row.status }) };
}
