import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type FindOptionsWhere, IsNull, Not } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type {
  Connection,
  ConnectionQuery,
  CreateConnectionRequest,
  UpdateConnectionRequest,
} from '../contracts/admin/connection.dto.js';
import type { List } from '../contracts/admin/list.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../contracts/common/pagination.dto.js';
import { isForeignKeyViolation } from '../database/postgres-errors.js';
import { inTransaction } from '../database/transaction.js';
import { uuidv7 } from '../database/uuid.js';
import { apiError, invalid } from '../errors/app-error.js';
import { OUTBOUND_POLICY, type OutboundPolicy } from '../outbound/address-guard.js';
import { ConnectionKeys } from './connection-keys.service.js';
import { ConnectionEntity } from './connection.entity.js';
import { connectionViolations, INTERVALS, normalBaseUrl } from './connection.rules.js';

/**
 * $1 hauler, $2 connection, $3 address, $4 key, $5 next key, $6 customer, $7 interval in seconds, $8 enabled; $3 to $8 are
 * null if unchanged. $9 says whether the credentials changed. A shorter interval counts from now, with the jitter of a
 * tenth, unless failures or the partner have deferred the next run.
 */
const UPDATE = `
  UPDATE connections SET
    base_url = coalesce($3, base_url), sealed_key = coalesce($4, sealed_key),
    sealed_next_key = coalesce($5, sealed_next_key), customer_id = coalesce($6, customer_id),
    interval_seconds = coalesce($7, interval_seconds), enabled = coalesce($8, enabled),
    due_at = CASE WHEN interface = 'site' AND coalesce($8, enabled) AND ($9 OR NOT enabled) THEN now()
      WHEN interface = 'site' AND attempts = 0 THEN least(due_at, now() + $7 * interval '1.1 seconds') ELSE due_at END,
    leased_until = CASE WHEN $9 THEN NULL ELSE leased_until END,
    lease_token = CASE WHEN $9 THEN NULL ELSE lease_token END,
    attempts = CASE WHEN $9 THEN 0 ELSE attempts END, updated_at = now()
  WHERE hauler_id = $1 AND id = $2 AND deleted_at IS NULL`;

/** A change of the credentials, or the end of a pause. */
export interface ConnectionChange {
  readonly haulerId: string;
  readonly id: string;
  /** A key, the address or the customer changed. */
  readonly credentialsChanged: boolean;
}

/** Implemented by a module that has due rows of its own for connections. */
export interface ConnectionWork {
  /** Called in the transaction of the change. */
  makeDue(manager: EntityManager, change: ConnectionChange): Promise<void>;
  /** Called after its commit. */
  runDue(): void;
}

/** The administration of haulers' connections to partners. */
@Injectable()
export class ConnectionsService {
  private readonly works: ConnectionWork[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ConnectionKeys,
    @Inject(OUTBOUND_POLICY) private readonly policy: OutboundPolicy,
  ) {}

  /** Call it in `onModuleInit`. */
  register(work: ConnectionWork): void {
    this.works.push(work);
  }

  /** An enabled site connection is due at once. */
  async create(request: CreateConnectionRequest): Promise<Connection> {
    const violations = await connectionViolations(request.interface, request, this.policy);
    if (violations.length > 0) throw invalid(violations);
    const id = uuidv7();
    const now = new Date();
    const enabled = request.enabled ?? true;
    const isSite = request.interface === 'site';
    const row: ConnectionEntity = {
      id,
      haulerId: request.haulerId,
      interface: request.interface,
      baseUrl: normalBaseUrl(request.baseUrl),
      sealedKey: this.keys.seal(id, request.apiKey),
      sealedNextKey: null,
      customerId: isSite ? null : (request.customerId ?? request.haulerId),
      intervalSeconds: request.intervalSeconds ?? INTERVALS[request.interface].standard,
      enabled,
      dueAt: isSite && enabled ? now : null,
      lastError: null,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    };
    try {
      await this.dataSource.manager.insert(ConnectionEntity, row);
    } catch (error) {
      if (!isForeignKeyViolation(error, 'connections_hauler_fkey')) throw error;
      throw invalid([{ path: 'haulerId', rule: 'isKnown', message: 'haulerId must be the id of a hauler' }]);
    }
    return toConnectionDto(row);
  }

  /** Newest first. */
  async list(query: ConnectionQuery): Promise<List<Connection>> {
    const page = pageRequest(query);
    const where: FindOptionsWhere<ConnectionEntity> = { deletedAt: IsNull() };
    if (query.haulerId !== undefined) where.haulerId = query.haulerId;
    if (query.interface !== undefined) where.interface = query.interface;
    if (query.failing !== undefined) where.lastError = query.failing ? Not(IsNull()) : IsNull();
    const [rows, total] = await this.dataSource.manager.findAndCount(ConnectionEntity, {
      where,
      order: { createdAt: 'DESC', id: 'DESC' },
      skip: page.offset,
      take: page.pageSize,
    });
    return { data: rows.map(toConnectionDto), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<Connection> {
    return toConnectionDto(await this.required(id));
  }

  /** The row. Throws `notFound` for an unknown or deleted connection. */
  async required(id: string): Promise<ConnectionEntity> {
    const row = await this.dataSource.manager.findOneBy(ConnectionEntity, { id, deletedAt: IsNull() });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no connection ${id}`);
    return row;
  }

  /**
   * A change of the credentials, and the end of a pause, make the connection and the due rows of other modules due now.
   * A run that uses the former key or address loses its lease.
   */
  async update(id: string, request: UpdateConnectionRequest): Promise<Connection> {
    const row = await this.required(id);
    const violations = await connectionViolations(row.interface, request, this.policy);
    if (violations.length > 0) throw invalid(violations);
    const seal = (key: string | undefined) => (key === undefined ? undefined : this.keys.seal(id, key));
    const baseUrl = request.baseUrl === undefined ? undefined : normalBaseUrl(request.baseUrl);
    const moved = baseUrl !== undefined && baseUrl !== row.baseUrl;
    const renamed = request.customerId !== undefined && request.customerId !== row.customerId;
    const credentialsChanged = moved || renamed || request.apiKey !== undefined || request.nextApiKey !== undefined;
    const parameters = [
      row.haulerId,
      id,
      baseUrl,
      seal(request.apiKey),
      seal(request.nextApiKey),
      request.customerId,
      request.intervalSeconds,
      request.enabled,
      credentialsChanged,
    ];
    const resumed = request.enabled === true && !row.enabled;
    const works = credentialsChanged || resumed ? this.works : [];
    await inTransaction(this.dataSource, async (manager) => {
      await manager.query(UPDATE, parameters);
      for (const work of works) await work.makeDue(manager, { haulerId: row.haulerId, id, credentialsChanged });
    });
    for (const work of works) work.runDue();
    return this.get(id);
  }

  /**
   * Keeps the data of the connection, deletes its keys, and ends the lease of its run. Throws `notFound` for a
   * connection that is deleted already.
   */
  async remove(id: string): Promise<void> {
    const [, deleted] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE connections SET deleted_at = now(), updated_at = now(), enabled = false, sealed_key = '',
         sealed_next_key = NULL, due_at = NULL, leased_until = NULL, lease_token = NULL, run_requested_at = NULL
       WHERE id = $1 AND deleted_at IS NULL`,
      [id],
    );
    if (deleted === 0) throw apiError(ADMIN_API, 'notFound', `there is no connection ${id}`);
  }
}

function toConnectionDto(row: ConnectionEntity): Connection {
  return {
    id: row.id,
    haulerId: row.haulerId,
    interface: row.interface,
    baseUrl: row.baseUrl,
    customerId: row.customerId,
    intervalSeconds: row.intervalSeconds,
    enabled: row.enabled,
    hasNextApiKey: row.sealedNextKey !== null,
    nextRunAt: row.dueAt === null || !row.enabled ? null : formatInstant(row.dueAt),
    lastError: row.lastError,
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}
