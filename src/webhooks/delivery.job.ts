import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { WebhookDelivery } from '../contracts/admin/webhook-delivery.dto.js';
import { DELIVERY_REASONS, type DeliveryReason } from '../contracts/webhooks/delivery.values.js';
import { Database } from '../database/database.js';
import type { Sql } from '../database/sql.js';
import type { Next, Run } from '../work/run.js';
import { PARTNER_LANES } from '../work/work-kind.js';
import { WorkService } from '../work/work.service.js';
import {
  calledEndpoints,
  type Channel,
  deferDue,
  deliveryLanes,
  type DeliveryRow,
  endTest,
  endTogether,
  failWaiting,
  insertDelivery,
  waitingFor,
} from './deliveries.repository.js';
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
  releaseMail,
  reserveMail,
} from './endpoints.repository.js';

const DELIVER = 'webhook deliveries';
const MAIL = 'webhook mails';

/** A mail to an endpoint at most this often. */
const MAIL_EVERY_MS = 15 * 60_000;
/** Events that one mail takes. */
const MAX_PER_MAIL = 10_000;

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
  ) {}

  onModuleInit(): void {
    // A mail takes all that waits.
    this.register(MAIL, 'mail', 1);
    this.register(DELIVER, 'post', 8);
  }

  runDue(): void {
    this.work.runDue(DELIVER);
    this.work.runDue(MAIL);
  }

  private register(name: string, channel: Channel, concurrency: number): void {
    this.work.register<DeliveryRow>({
      name,
      table: 'webhook_deliveries',
      key: { id: 'uuid' },
      columns: ['endpoint_id', 'hauler_id', 'topic', 'data', 'created_at'],
      where: calledEndpoints(channel),
      lane: { by: 'endpoint_id', type: 'uuid', concurrency },
      lanes: PARTNER_LANES,
      callsPartners: true,
      lanesSql: deliveryLanes(channel),
      attempts: {
        max: MAX_TRIES,
        giveUp: (run) => run.finish('done', { status: 'failed', reason: 'interrupted', ended_at: new Date() }),
      },
      run: (run) => this.deliver(run),
    });
  }

  /** Tries `webhook.test` once, now, and returns the id of its delivery. */
  async test(endpoint: EndpointRow): Promise<WebhookDelivery['id']> {
    const { id: endpointId, hauler_id: haulerId } = endpoint;
    const data = { ...(haulerId === null ? {} : { haulerId }), endpointId };
    const id = await insertDelivery(this.database, endpointId, { topic: 'webhook.test', data, isDue: false });
    const event = { id, topic: 'webhook.test', data: JSON.stringify(data), created_at: new Date() } as const;
    const attempt = await this.sender.send(endpoint, [event]);
    const status = attempt.reason === undefined ? 'delivered' : 'failed';
    await endTest(this.database, id, { status, ...responseOf(attempt) });
    if (status === 'delivered') await recordSuccess(this.database, endpointId);
    return id;
  }

  private async deliver(run: DeliveryRun): Promise<Next> {
    const { row } = run;
    const endpoint = await findEndpoint(this.database, row.endpoint_id, null);
    // It was deleted with its deliveries.
    if (endpoint === undefined) return 'done';
    if (!endpoint.enabled) return this.later(run, PAUSED_MS);
    if (endpoint.key_id !== null && !(await isKeyValid(this.database, endpoint.key_id))) {
      return this.failed(run, endpoint, { reason: 'disabled' }, 'key-ended');
    }
    return endpoint.format === 'email' ? this.mail(run, endpoint) : this.post(run, endpoint);
  }

  private async post(run: DeliveryRun, endpoint: EndpointRow): Promise<Next> {
    const attempt = await this.sender.send(endpoint, [run.row], run.signal);
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

  /** One mail for all that waits, unless the last one was sent just before. */
  private async mail(run: DeliveryRun, endpoint: EndpointRow): Promise<Next> {
    const waitMs = await reserveMail(this.database, endpoint.id, MAIL_EVERY_MS);
    if (waitMs > 0) {
      await deferDue(this.database, endpoint.id, waitMs);
      return this.later(run, waitMs);
    }
    const others = await waitingFor(this.database, endpoint.id, MAX_PER_MAIL);
    const ids = others.map(({ id }) => id);
    const attempt = await this.sender.send(endpoint, [run.row, ...others]);
    if (attempt.reason !== undefined) {
      await releaseMail(this.database, endpoint.id);
      // The others have their next try with this one.
      const next = await this.failed(run, endpoint, attempt);
      await this.failTogether(others, attempt);
      return next;
    }
    await this.database.transaction(async (transaction) => {
      await run.finish(
        'done',
        { status: 'delivered', ended_at: new Date(), attempts: run.attempt, ...responseOf(attempt) },
        transaction,
      );
      await endTogether(transaction, ids, { status: 'delivered', reason: null, delayMs: null });
      await recordSuccess(transaction, endpoint.id);
    });
    return 'done';
  }

  private async failTogether(rows: readonly Pick<DeliveryRow, 'id' | 'attempts'>[], attempt: Attempt): Promise<void> {
    const groups = Map.groupBy(rows, ({ attempts }) => attempts);
    for (const [attempts, group] of groups) {
      const { delayMs = null } = nextTry(attempt, attempts + 1, { failures: 0, failing_ms: 0 }, 0);
      const status = delayMs === null ? 'failed' : 'pending';
      await endTogether(
        this.database,
        group.map(({ id }) => id),
        { status, reason: attempt.reason ?? null, delayMs },
      );
    }
  }

  /** The try does not count. */
  private async later(run: DeliveryRun, afterMs: number): Promise<Next> {
    await run.finish({ afterMs }, { attempts: run.attempt - 1 });
    return 'done';
  }

  private async failed(run: DeliveryRun, endpoint: EndpointRow, attempt: Attempt, ended?: 'key-ended'): Promise<Next> {
    this.report(endpoint, attempt);
    await this.database.transaction(async (transaction) => {
      const state = await recordFailure(transaction, endpoint.id);
      const decided = nextTry(attempt, run.attempt, state ?? { failures: 0, failing_ms: 0 }, Math.random());
      const { delayMs, pauseMs, disable = ended } = ended === undefined ? decided : { disable: ended };
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
  private async disable(
    transaction: Sql,
    endpoint: EndpointRow,
    reason: 'gone' | 'failing' | 'key-ended',
  ): Promise<void> {
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
