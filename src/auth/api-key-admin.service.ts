import type { RuleName } from '../contracts/common/rules.js';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type {
  ApiKey,
  ApiKeyQuery,
  IssueApiKeyRequest,
  IssuedApiKey,
  KeyRemoval,
} from '../contracts/admin/api-keys.routes.js';
import type { Violation } from '../contracts/common/violation.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { List } from '../contracts/admin/list.dto.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Database } from '../core/database/database.js';
import { entityPage } from '../core/database/list-page.js';
import { apiError, invalid } from '../core/errors/app-error.js';
import { createKey } from './api-key.js';
import { ApiKeyEntity } from './auth.entity.js';
import { apiKeys, insertKey, lockConnection, revokeKey } from './api-key.repository.js';
import { expiryOf, expiryViolations, issuedKey, keyPrincipal, newKeyRow, toApiKeyDto } from './api-key.js';
import { countSessions } from './console-session.repository.js';
import { HaulersService } from './haulers.service.js';
import { KeyCache } from './key-cache.js';
import type { KeyPrincipal } from '../core/http/principal.js';

/** The platform's own interfaces belong to a hauler (decision 1). */
function needsHauler({ interfaces = [] }: Pick<IssueApiKeyRequest, 'interfaces'>): boolean {
  return interfaces.includes('scale') || interfaces.includes('account');
}

type Refuse = (path: string, rule: RuleName, must: string) => void;

/** A vision key names its customer, or says that it reads every customer. */
function refuseCustomers(
  { interfaces = [], customerId, allCustomers = false }: IssueApiKeyRequest,
  refuse: Refuse,
): void {
  if (!interfaces.includes('vision')) {
    // The key would look limited, although it would not be.
    const must = 'applies to vision only, which is not among the interfaces';
    if (customerId !== undefined) refuse('customerId', 'isForVision', must);
    if (allCustomers) refuse('allCustomers', 'isForVision', must);
  } else if (allCustomers && customerId !== undefined) {
    refuse('allCustomers', 'isOneOf', 'and customerId exclude each other: send one of them');
  } else if (!allCustomers && customerId === undefined) {
    refuse(
      'customerId',
      'isDefined',
      'is required for vision; for a key that reads every customer send allCustomers: true',
    );
  }
}

/** A key of a connection opens no interface, and its owner is that of the connection. */
function refuseTerms(request: IssueApiKeyRequest, refuse: Refuse): void {
  for (const name of ['haulerId', 'customerId', 'allCustomers', 'interfaces'] as const) {
    if (request[name] !== undefined) refuse(name, 'isAbsent', 'must be absent beside connectionId');
  }
}

/** The violations of a request for a key that concern more than one field, or the time. */
export function issueViolations(request: IssueApiKeyRequest, now: number): Violation[] {
  const violations: Violation[] = [];
  const refuse: Refuse = (path, rule, must) => violations.push({ path, rule, message: `${path} ${must}` });
  if (request.connectionId !== undefined) refuseTerms(request, refuse);
  else if (request.interfaces === undefined) {
    refuse('interfaces', 'isDefined', 'is required; for a key of one connection send connectionId instead');
  } else {
    if (needsHauler(request) && request.haulerId === undefined) {
      refuse('haulerId', 'isDefined', 'is required for scale and account');
    }
    refuseCustomers(request, refuse);
  }
  return [...violations, ...expiryViolations(request, now)];
}

/** Issues, lists and revokes API keys (decision 17). */
@Injectable()
export class ApiKeyAdmin {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly haulers: HaulersService,
    private readonly cache: KeyCache,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'CELL'>,
  ) {}

  async issue(request: IssueApiKeyRequest): Promise<IssuedApiKey> {
    const violations = issueViolations(request, Date.now());
    // A key for site or vision alone may name a hauler that only the partner side knows.
    if (needsHauler(request) && request.haulerId !== undefined && !(await this.haulers.exists(request.haulerId))) {
      violations.push(unknown('haulerId', 'hauler'));
    }
    return this.database.transaction(async (transaction) => {
      const { connectionId, haulerId } = request;
      const owner = connectionId === undefined ? haulerId : await lockConnection(transaction, connectionId);
      const isUnknown = connectionId !== undefined && owner === undefined;
      const all = isUnknown ? [...violations, unknown('connectionId', 'connection')] : violations;
      if (all.length > 0) throw invalid(all);
      const created = createKey(this.env.CELL);
      const row = newKeyRow(created, {
        haulerId: owner ?? null,
        connectionId: connectionId ?? null,
        customerId: request.customerId ?? null,
        allCustomers: request.allCustomers ?? false,
        interfaces: [...new Set(request.interfaces)],
        name: request.name ?? null,
        expiresAt: expiryOf(request) ?? null,
      });
      await insertKey(transaction, row);
      return issuedKey(created, row);
    });
  }

  /** Newest first. */
  async list(query: ApiKeyQuery): Promise<List<ApiKey>> {
    const { rows, pagination } = await entityPage(this.database, this.dataSource, ApiKeyEntity, apiKeys(query), query);
    return { data: rows.map(toApiKeyDto), pagination };
  }

  async get(id: string): Promise<ApiKey> {
    const row = await this.find(id);
    if (row === null) throw unknownKey(id);
    return toApiKeyDto(row);
  }

  /** The caller that a key identifies, even if the key is revoked or has expired; undefined for an unknown id. */
  async callerOf(id: string): Promise<KeyPrincipal | undefined> {
    const row = await this.find(id);
    return row === null ? undefined : keyPrincipal(row);
  }

  /**
   * Revokes a key for good, on every instance within 5 s. A revoked key keeps its time of revocation. A dry run returns what would
   * end.
   */
  async revoke(id: string, isDryRun = false): Promise<KeyRemoval | undefined> {
    if (isDryRun) {
      const { lastUsedAt } = await this.get(id);
      return { lastUsedAt, sessions: await countSessions(this.database, id) };
    }
    const revoked = await revokeKey(this.database, id);
    if (revoked === undefined) throw unknownKey(id);
    this.forget([revoked]);
    return undefined;
  }

  /** Keys that were revoked, by their hashes. Other instances read them again within 5 s. */
  forget(hashes: readonly Buffer[]): void {
    for (const hash of hashes) this.cache.forget(hash.toString('base64url'));
  }

  private find(id: string): Promise<ApiKeyEntity | null> {
    return this.dataSource.manager.findOneBy(ApiKeyEntity, { id });
  }
}

const unknownKey = (id: string) => apiError(ADMIN_API, 'notFound', `there is no API key ${id}`);

const unknown = (path: string, what: string): Violation => ({
  path,
  rule: 'isKnown',
  message: `${path} must be the id of a ${what}`,
});
