import { type BeforeApplicationShutdown, Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Database } from '../core/database/database.js';
import { isDatabaseUnavailable } from '../core/database/postgres-errors.js';
import { Sweep } from '../core/database/sweep.js';
import {
  CALLED_ENDPOINTS,
  deleteOld,
  deleteOldest,
  DELIVERY_LANES,
  type DeliveryRow,
  failWaiting,
  insertDelivery,
  insertTest,
  overfull,
} from './deliveries.repository.js';
import { LRUCache } from 'lru-cache';
import type { DisabledReason, WebhookDelivery } from '../contracts/admin/webhooks.routes.js';
import { DELIVERY_REASONS, type DeliveryReason } from '../contracts/webhooks/delivery.values.js';
import type { Sql } from '../core/database/sql.js';
import { uuidv7 } from '../core/database/uuid.js';
import { OutboundSwitch } from '../core/outbound/outbound-switch.js';
import type { Next, Run } from '../core/work/run.js';
import { WorkService } from '../core/work/work.service.js';
import { type Attempt, MAX_TRIES, nextTry } from './delivery.rules.js';
import { DeliverySender } from './delivery-sender.js';
import {
  disableEndpoint,
  type EndpointRow,
  findEndpoint,
  isKeyValid,
  operatorEndpoints,
  pauseEndpoint,
  recordFailure,
  recordSuccess,
} from './endpoints.repository.js';

const INTERVAL_MS = 60_000;

/** Deliveries of one endpoint that are kept. A receiver that is away cannot fill the database. */
const MAX_DELIVERIES = 100_000;

/** Deletes deliveries by their age, and the oldest of an endpoint that has too many. */
@Injectable()
export class DeliverySweep implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly retention = new Sweep((stopping) => this.run(MAX_DELIVERIES, stopping));

  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'WEBHOOK_RETENTION_DAYS'>,
  ) {}

  @Interval('webhook deliveries', INTERVAL_MS)
  async minutely(): Promise<void> {
    try {
      await this.retention.run();
    } catch (err) {
      if (!isDatabaseUnavailable(err)) this.logger.error({ err }, 'cannot delete old deliveries');
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }

  /** `max`: deliveries that each endpoint keeps. */
  async run(max: number, stopping?: AbortSignal): Promise<void> {
    await deleteOld(this.database, this.env.WEBHOOK_RETENTION_DAYS);
    for (const { id, over } of await overfull(this.database, max)) {
      if (stopping?.aborted !== true) await deleteOldest(this.database, id, over);
    }
  }
}

const DELIVER = 'webhook deliveries';

/** A row that no enabled endpoint takes is looked at again after this time. */
const PAUSED_MS = 60_000;

type DeliveryRun = Run<DeliveryRow>;

/** Delivers what the outbox has written, in one lane for each endpoint. */
@Injectable()
export class DeliveryJob implements OnModuleInit {
  private readonly logger = new Logger(DeliveryJob.name);
  /** The last failure of each endpoint that was logged. */
  private readonly reported = new LRUCache<string, DeliveryReason>({ max: 1_000, ttl: 24 * 3_600_000 });

  constructor(
    private readonly work: WorkService,
    private readonly database: Database,
    private readonly sender: DeliverySender,
    private readonly outbound: OutboundSwitch,
  ) {}

  onModuleInit(): void {
    this.work.register<DeliveryRow>({
      name: DELIVER,
      table: 'webhook_deliveries',
      key: { id: 'uuid' },
      where: CALLED_ENDPOINTS,
      lane: { by: 'endpoint_id', concurrency: 8 },
      callsPartners: true,
      lanesSql: DELIVERY_LANES,
      attempts: {
        max: MAX_TRIES,
        giveUp: (run) => run.finish('done', { status: 'failed', reason: 'interrupted', ended_at: new Date() }),
      },
      run: (run) => this.deliver(run),
    });
  }

  runDue(): void {
    this.work.runDue(DELIVER);
  }

  /** Tries `webhook.test` once, now, and returns the id of its delivery, which is stored when it has ended. */
  async test(endpoint: EndpointRow): Promise<WebhookDelivery['id']> {
    const { id: endpointId, hauler_id: haulerId } = endpoint;
    const event = {
      id: uuidv7(),
      topic: 'webhook.test',
      data: JSON.stringify({ ...(haulerId === null ? {} : { haulerId }), endpointId }),
      created_at: new Date(),
    } as const;
    const { isOn } = this.outbound;
    const attempt: Attempt = isOn ? await this.sender.send(endpoint, event) : { reason: 'switched-off' };
    const status = attempt.reason === undefined ? 'delivered' : 'failed';
    const tried = { status, attempts: isOn ? 1 : 0, ...responseOf(attempt) } as const;
    await insertTest(this.database, { ...event, endpoint_id: endpointId, hauler_id: haulerId, ...tried });
    if (status === 'delivered') await recordSuccess(this.database, endpointId);
    return event.id;
  }

  private async deliver(run: DeliveryRun): Promise<Next> {
    const { row } = run;
    const endpoint = await findEndpoint(this.database, row.endpoint_id, null);
    // It was deleted with its deliveries.
    if (endpoint === undefined) return 'done';
    if (!endpoint.enabled) {
      // The try does not count.
      await run.finish({ afterMs: PAUSED_MS }, { attempts: run.attempt - 1 });
      return 'done';
    }
    if (endpoint.key_id !== null && !(await isKeyValid(this.database, endpoint.key_id))) {
      return this.failed(run, endpoint, { reason: 'disabled' });
    }
    const attempt = await this.sender.send(endpoint, run.row, run.signal);
    if (attempt.reason !== undefined) return this.failed(run, endpoint, attempt);
    await run.finish('done', {
      status: 'delivered',
      ended_at: new Date(),
      attempts: run.attempt,
      ...responseOf(attempt),
    });
    this.reported.delete(endpoint.id);
    if (endpoint.failing_since !== null || endpoint.paused_until !== null) {
      await recordSuccess(this.database, endpoint.id);
    }
    return 'done';
  }

  private async failed(run: DeliveryRun, endpoint: EndpointRow, attempt: Attempt): Promise<Next> {
    this.report(endpoint, attempt);
    await this.database.transaction(async (transaction) => {
      const state = await recordFailure(transaction, endpoint.id);
      const endpointState = state ?? { failures: 0, failing_ms: 0 };
      const { delayMs, pauseMs, disable } = nextTry(attempt, run.attempt, endpointState, Math.random());
      const isOver = delayMs === undefined;
      const set = {
        attempts: run.attempt,
        ...(isOver ? { status: 'failed', ended_at: new Date() } : {}),
        ...responseOf(attempt),
      };
      await run.finish(isOver ? 'done' : { afterMs: delayMs }, set, transaction);
      if (pauseMs !== undefined) await pauseEndpoint(transaction, endpoint.id, pauseMs);
      if (disable !== undefined) await this.disable(transaction, endpoint, disable);
    });
    return 'done';
  }

  /** The first failure of an endpoint, and each of another kind: a receiver that is away is tried for days. */
  private report({ id }: EndpointRow, { reason, response }: Attempt): void {
    if (reason === undefined || this.reported.get(id) === reason) return;
    this.reported.set(id, reason);
    const status = response === undefined ? {} : { status: response.status };
    this.logger.warn(
      { endpoint: id, reason, ...status },
      `a delivery to the endpoint ${id} failed: ${DELIVERY_REASONS[reason]}`,
    );
  }

  /** Once, with one notice to each other endpoint of the operator. */
  private async disable(transaction: Sql, endpoint: EndpointRow, reason: DisabledReason): Promise<void> {
    if (!(await disableEndpoint(transaction, endpoint.id, reason))) return;
    await failWaiting(transaction, endpoint.id);
    const data = { endpointId: endpoint.id, reason };
    for (const id of await operatorEndpoints(transaction, endpoint.id)) {
      await insertDelivery(transaction, id, { topic: 'webhook.disabled', data });
    }
  }
}

/** The columns of the answer. */
const responseOf = ({ reason = null, response }: { reason?: Attempt['reason'] | null } & Omit<Attempt, 'reason'>) => ({
  reason,
  response_status: response?.status ?? null,
  response_body: response?.body ?? null,
});
