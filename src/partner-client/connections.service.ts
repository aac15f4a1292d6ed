import { Inject, Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  Connection,
  type ConnectionQuery,
  ConnectionRemoval,
  type CreateConnectionRequest,
  type UpdateConnectionRequest,
} from '../contracts/admin/connections.routes.js';
import type { List } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { entityPage } from '../core/database/list-page.js';
import { isForeignKeyViolation } from '../core/database/postgres-errors.js';
import type { Sql } from '../core/database/sql.js';
import { uuidv7 } from '../core/database/uuid.js';
import { apiError, invalid } from '../core/errors/app-error.js';
import { OUTBOUND_POLICY, type OutboundPolicy } from '../core/outbound/address-guard.js';
import { ConnectionKeys } from './connection-keys.service.js';
import { ConnectionEntity } from './connection.entity.js';
import { connectionViolations, INTERVALS, isOtherOrigin, keyViolations, normalBaseUrl } from './connection.rules.js';
import {
  connectionList,
  type ConnectionUpdate,
  countRemoval,
  deleteConnection,
  lockConnection,
  type LockedConnection,
  updateConnection,
} from './connections.repository.js';

/** A change of the credentials, or the end of a pause. */
export interface ConnectionChange {
  readonly haulerId: string;
  readonly id: string;
  /** A key, the address or the customer changed. */
  readonly credentialsChanged: boolean;
}

/** The due rows that another module has for connections. */
export interface ConnectionWork {
  /** Called in the transaction of the change. */
  makeDue(transaction: Sql, change: ConnectionChange): Promise<void>;
  /** Called after its commit. */
  runDue(): void;
}

/** The administration of haulers' connections to partners. */
@Injectable()
export class ConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly keys: ConnectionKeys,
    @Inject(OUTBOUND_POLICY) private readonly policy: OutboundPolicy,
  ) {}

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
      firstByteTimeoutSeconds: request.firstByteTimeoutSeconds || null,
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
    const { rows, pagination } = await entityPage(
      this.database,
      this.dataSource,
      ConnectionEntity,
      connectionList(query),
      query,
    );
    return { data: rows.map(toConnectionDto), pagination };
  }

  async get(id: string): Promise<Connection> {
    return toConnectionDto(await this.required(id));
  }

  /** The row. Throws `notFound` for an unknown or deleted connection. */
  async required(id: string): Promise<ConnectionEntity> {
    const row = await this.dataSource.manager.findOneBy(ConnectionEntity, { id, deletedAt: IsNull() });
    if (row === null) throw unknownConnection(id);
    return row;
  }

  /**
   * A change of the credentials, and the end of a pause, make the connection and its other work due now. A run that uses the
   * former key or address is cancelled.
   */
  async update(id: string, request: UpdateConnectionRequest, work: ConnectionWork): Promise<Connection> {
    // Before the transaction, because it resolves names.
    const violations = await connectionViolations((await this.required(id)).interface, request, this.policy);
    const isDue = await this.database.transaction(async (transaction) => {
      const row = await lockConnection(transaction, id);
      if (row === undefined) throw unknownConnection(id);
      const refusesUrl = violations.some(({ path }) => path === 'baseUrl');
      const all = refusesUrl ? violations : [...violations, ...keyViolations(row.baseUrl, request)];
      if (all.length > 0) throw invalid(all);
      const change = this.changeOf(row, request);
      await updateConnection(transaction, row, change);
      const resumed = request.enabled === true && !row.enabled;
      const { haulerId } = row;
      const { credentialsChanged } = change;
      const makesDue = credentialsChanged || resumed;
      if (makesDue) await work.makeDue(transaction, { haulerId, id, credentialsChanged });
      return makesDue;
    });
    if (isDue) work.runDue();
    return this.get(id);
  }

  /**
   * Keeps the data of the connection, deletes its keys, and cancels its run. Returns the hashes of the keys that we issued for
   * it, which end; a dry run returns what would end. Throws `notFound` for a connection that is deleted already.
   */
  async remove(id: string, isDryRun = false): Promise<{ ended: Buffer[]; preview?: ConnectionRemoval }> {
    if (isDryRun) {
      const preview = await this.database.transaction((transaction) => countRemoval(transaction, id), { pool: 'bulk' });
      if (preview === undefined) throw unknownConnection(id);
      return { ended: [], preview };
    }
    const ended = await this.database.transaction((transaction) => deleteConnection(transaction, id));
    if (ended === undefined) throw unknownConnection(id);
    return { ended };
  }

  private changeOf(row: LockedConnection, request: UpdateConnectionRequest): ConnectionUpdate {
    const seal = (key: string | undefined) => (key === undefined ? undefined : this.keys.seal(row.id, key));
    const baseUrl = request.baseUrl === undefined ? undefined : normalBaseUrl(request.baseUrl);
    const moved = baseUrl !== undefined && baseUrl !== row.baseUrl;
    const renamed = request.customerId !== undefined && request.customerId !== row.customerId;
    return {
      baseUrl,
      sealedKey: seal(request.apiKey),
      sealedNextKey: seal(request.nextApiKey),
      dropsNextKey: moved && isOtherOrigin(row.baseUrl, baseUrl),
      customerId: request.customerId,
      intervalSeconds: request.intervalSeconds,
      firstByteTimeoutSeconds: request.firstByteTimeoutSeconds,
      enabled: request.enabled,
      credentialsChanged: moved || renamed || request.apiKey !== undefined || request.nextApiKey !== undefined,
    };
  }
}

const unknownConnection = (id: string) => apiError(ADMIN_API, 'notFound', `there is no connection ${id}`);

/** A hauler's connection; undefined for a deleted one. */
export async function findConnection(
  dataSource: DataSource,
  haulerId: string,
  id: string,
): Promise<Connection | undefined> {
  const row = await dataSource.manager.findOneBy(ConnectionEntity, { haulerId, id, deletedAt: IsNull() });
  return row === null ? undefined : toConnectionDto(row);
}

const toConnectionDto = (row: ConnectionEntity): Connection =>
  present(Connection, {
    ...row,
    hasNextApiKey: row.sealedNextKey !== null,
    nextRunAt: row.enabled ? row.dueAt : null,
  });
