import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import {
  type ChangeVideoSubscription,
  type CreateVideoSubscription,
  type ReadVideoSubscriptionAgain,
  type TruckFilters,
  UnreadWindow,
  VideoSubscription,
  type VideoSubscriptionQuery,
  VideoSubscriptionRemoval,
} from '../../contracts/admin/video-subscriptions.routes.js';
import { epochMillis } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import type { Violation } from '../../contracts/common/violation.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import {
  READ_SUBSCRIPTIONS,
  READ_WINDOWS,
  unknownConnection,
  VisionConnections,
} from '../client/vision-connections.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import { readDaysAgain } from './windows.repository.js';
import { closedUntil, daysOf } from './windows.rules.js';

/** The subscriptions to trucks' continuous recordings. */
@Injectable()
export class VideoSubscriptions {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly connections: VisionConnections,
    private readonly work: WorkService,
  ) {}

  /** The first reading starts at once. 400 where the connection is not a vision connection. */
  async create(request: CreateVideoSubscription): Promise<VideoSubscription> {
    const connection = await this.connections.find(request.connectionId);
    if (connection === undefined) throw invalid([unknownConnection()]);
    const { truckId, cameraId = null, startTime, intervalSeconds = connection.intervalSeconds } = request;
    const id = await this.subscriptions.insert(connection, { truckId, cameraId, startTime, intervalSeconds });
    this.work.runDue(READ_SUBSCRIPTIONS);
    return this.get(id);
  }

  /** Newest first. */
  async list(query: VideoSubscriptionQuery): Promise<List<VideoSubscription>> {
    const { rows, pagination } = await this.subscriptions.list(query);
    return { data: rows.map((row) => present(VideoSubscription, row)), pagination };
  }

  /** The times of a connection of which no list could be read, latest first. */
  async listUnread(haulerId: string, connectionId: string, query: TruckFilters): Promise<List<UnreadWindow>> {
    const { rows, pagination } = await this.subscriptions.listUnread(haulerId, connectionId, query);
    return { data: rows.map((row) => present(UnreadWindow, row)), pagination };
  }

  async get(id: string): Promise<VideoSubscription> {
    const row = await this.subscriptions.find(id);
    if (row === undefined) throw unknownSubscription(id);
    return present(VideoSubscription, row);
  }

  /** The change takes effect at once. */
  async change(id: string, { intervalSeconds, enabled }: ChangeVideoSubscription): Promise<VideoSubscription> {
    if (!(await this.subscriptions.update(id, intervalSeconds, enabled))) throw unknownSubscription(id);
    this.work.runDue(READ_SUBSCRIPTIONS);
    return this.get(id);
  }

  /** Lists this time again, as far as it has ended. 400 where none of it has. */
  async readAgain(id: string, range: ReadVideoSubscriptionAgain): Promise<VideoSubscription> {
    const row = await this.subscriptions.find(id);
    if (row === undefined) throw unknownSubscription(id);
    const [start, to] = [epochMillis(range.from), epochMillis(range.to)];
    const window = { start, end: Math.min(to, closedUntil(Date.now())) };
    const violations = againViolations(to - start, window.end - start);
    if (violations.length > 0) throw invalid(violations);
    await this.subscriptions.inTransaction((transaction) => readDaysAgain(transaction, row, window, daysOf(window)));
    this.work.runDue(READ_WINDOWS);
    return present(VideoSubscription, row);
  }

  /** A dry run returns what would end. */
  async remove(id: string, isDryRun = false): Promise<VideoSubscriptionRemoval | undefined> {
    const preview = isDryRun ? await this.subscriptions.countRemoval(id) : undefined;
    if (preview !== undefined) return present(VideoSubscriptionRemoval, preview);
    if (isDryRun || !(await this.subscriptions.delete(id))) throw unknownSubscription(id);
    return undefined;
  }
}

const MAX_AGAIN_MS = 366 * 86_400_000;

function againViolations(lengthMs: number, endedMs: number): Violation[] {
  if (lengthMs <= 0 || lengthMs > MAX_AGAIN_MS) {
    return [{ path: 'to', rule: 'isRange', message: 'to must be after from, and at most 366 days later' }];
  }
  return endedMs > 0 ? [] : [{ path: 'from', rule: 'isPast', message: 'from must be more than a minute ago' }];
}

const unknownSubscription = (id: string) => apiError(ADMIN_API, 'notFound', `there is no video subscription ${id}`);
