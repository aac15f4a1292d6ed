import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../core/http/principal.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import {
  type ChangeWebhookEndpoint,
  type CreateWebhookEndpoint,
  DEFAULT_SECRET_OVERLAP_SECONDS,
  type IssuedWebhookEndpoint,
  type RotateWebhookSecret,
  type WebhookDelivery,
  WebhookEndpoint,
  type WebhookEndpointQuery,
  type WebhookEndpointRemoval,
} from '../contracts/admin/webhooks.routes.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { listPage } from '../core/database/list-page.js';
import { isForeignKeyViolation } from '../core/database/postgres-errors.js';
import { uuidv7 } from '../core/database/uuid.js';
import { apiError, invalid } from '../core/errors/app-error.js';
import { outboundPolicy } from '../core/outbound/address-guard.js';
import { sealKey } from '../partner-client/connection-keys.service.js';
import { DeliveryJob } from './delivery.job.js';
import { countDeliveries, deleteDeliveries, makeDue } from './deliveries.repository.js';
import { Deliveries } from './deliveries.service.js';
import {
  type EndpointScope,
  endpointViolations,
  MAX_ENDPOINTS,
  MAX_OWN_ENDPOINTS,
  newSecret,
  OPERATOR,
  shownAddress,
  topicsOf,
  type WantedEndpoint,
} from './endpoint.rules.js';
import {
  countEndpoints,
  deleteEndpoint,
  endpointList,
  type EndpointRow,
  findEndpoint,
  firstKeyOf,
  insertEndpoint,
  replaceSecret,
  updateEndpoint,
} from './endpoints.repository.js';

/** Webhook endpoints, of the operator and of partners. Each call has a scope, and reaches no endpoint outside of it. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: ResolvedEnv,
    private readonly job: DeliveryJob,
    private readonly deliveries: Deliveries,
  ) {}

  /** The endpoints of a partner's key, which those of its predecessors are too. */
  async scopeOf(caller: Principal): Promise<EndpointScope> {
    const { keyId, haulerId, connectionId } = caller;
    if (keyId === null) throw new Error('the partner API needs a key');
    const first = await firstKeyOf(this.database, keyId);
    return { keyId: first, haulerId, connectionId, topics: topicsOf(caller), formats: ['standard', 'slack'] };
  }

  async create(request: CreateWebhookEndpoint, scope = OPERATOR): Promise<IssuedWebhookEndpoint> {
    const format = request.format ?? 'standard';
    const haulerId = scope.keyId === null ? (request.haulerId ?? null) : scope.haulerId;
    const wanted = { url: request.url, topics: [...new Set(request.topics)], format, haulerId };
    await this.check(wanted, scope);
    const max = scope.keyId === null ? MAX_ENDPOINTS : MAX_OWN_ENDPOINTS;
    if ((await countEndpoints(this.database, scope.keyId)) >= max) {
      throw apiError(ADMIN_API, 'conflict', `there are ${max} endpoints already: delete one`);
    }
    const id = uuidv7();
    const secret = newSecret();
    const row = {
      ...wanted,
      id,
      hauler_id: haulerId,
      connection_id: scope.connectionId,
      key_id: scope.keyId,
      enabled: request.enabled ?? true,
      sealed_secret: sealKey(this.env.SECRETS_KEY, id, secret),
    };
    await ofKnownHauler(insertEndpoint(this.database, row));
    return { ...(await this.get(id, scope)), secret };
  }

  async list(query: WebhookEndpointQuery | ListQuery, scope = OPERATOR): Promise<List<WebhookEndpoint>> {
    const haulerId = 'haulerId' in query ? query.haulerId : undefined;
    const { rows, pagination } = await listPage<EndpointRow>(this.database, endpointList(haulerId, scope.keyId), query);
    return { data: rows.map(toEndpointDto), pagination };
  }

  async get(id: string, scope = OPERATOR): Promise<WebhookEndpoint> {
    return toEndpointDto(await this.required(id, scope));
  }

  async update(id: string, request: ChangeWebhookEndpoint, scope = OPERATOR): Promise<WebhookEndpoint> {
    const row = await this.required(id, scope);
    const { enabled } = request;
    const url = request.url === shownAddress(row) ? undefined : request.url;
    const topics = request.topics === undefined ? undefined : [...new Set(request.topics)];
    const haulerId = scope.keyId === null ? request.haulerId : undefined;
    const format = request.format;
    // Another format would show the address.
    if (row.format === 'slack' && format !== undefined && format !== 'slack' && url === undefined) {
      const message = `url must be sent with the format ${format}: the address of Slack is never shown, so it is not kept`;
      throw invalid([{ path: 'url', rule: 'isDefined', message }]);
    }
    const wanted = {
      url: url ?? row.url,
      topics: topics ?? row.topics,
      format: format ?? row.format,
      haulerId: haulerId ?? row.hauler_id,
    };
    await this.check(wanted, scope);
    await this.database.transaction(async (transaction) => {
      await ofKnownHauler(updateEndpoint(transaction, id, { url, topics, format, haulerId, enabled }));
      if (enabled === true) await makeDue(transaction, id);
    });
    this.job.runDue();
    return this.get(id, scope);
  }

  /** A dry run returns what would be deleted with it. */
  async remove(id: string, isDryRun = false, scope = OPERATOR): Promise<WebhookEndpointRemoval | undefined> {
    await this.required(id, scope);
    if (isDryRun) return countDeliveries(this.database, id);
    await deleteEndpoint(this.database, id);
    await deleteDeliveries(this.database, id);
    return undefined;
  }

  async test(id: string, scope = OPERATOR): Promise<WebhookDelivery> {
    const deliveryId = await this.job.test(await this.required(id, scope));
    return this.deliveries.get(deliveryId, scope);
  }

  async rotate(id: string, request: RotateWebhookSecret, scope = OPERATOR): Promise<IssuedWebhookEndpoint> {
    await this.required(id, scope);
    const secret = newSecret();
    const overlap = request.overlapSeconds ?? DEFAULT_SECRET_OVERLAP_SECONDS;
    await replaceSecret(this.database, id, sealKey(this.env.SECRETS_KEY, id, secret), overlap);
    return { ...(await this.get(id, scope)), secret };
  }

  private async required(id: string, { keyId }: EndpointScope): Promise<EndpointRow> {
    const row = await findEndpoint(this.database, id, keyId);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no webhook endpoint ${id}`);
    return row;
  }

  private async check(wanted: WantedEndpoint, scope: EndpointScope): Promise<void> {
    const options = { policy: outboundPolicy(this.env), hasMail: this.env.SMTP_URL !== undefined };
    const violations = await endpointViolations(wanted, scope, options);
    if (violations.length > 0) throw invalid(violations);
  }
}

async function ofKnownHauler(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isForeignKeyViolation(error, 'webhook_endpoints_hauler_fkey')) throw error;
    throw invalid([{ path: 'haulerId', rule: 'isKnown', message: 'haulerId must be the id of a hauler' }]);
  }
}

function toEndpointDto(row: EndpointRow): WebhookEndpoint {
  const { former_secret_until: former } = row;
  return present(WebhookEndpoint, {
    ...row,
    url: shownAddress(row),
    formerSecretUntil: former === null || former.getTime() < Date.now() ? null : former,
  });
}
