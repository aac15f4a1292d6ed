import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { List } from '../contracts/admin/list.dto.js';
import {
  type RetriedWebhookDeliveries,
  type RetryWebhookDeliveries,
  WebhookDelivery,
  type WebhookDeliveryQuery,
} from '../contracts/admin/webhooks.routes.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { listPage } from '../core/database/list-page.js';
import { apiError, invalid } from '../core/errors/app-error.js';
import { DeliveryJob } from './delivery.job.js';
import {
  countFailed,
  deliveryList,
  type DeliveryRow,
  findDelivery,
  retryDelivery,
  retryFailed,
} from './deliveries.repository.js';
import { OPERATOR } from './endpoint.rules.js';
import { findEndpoint } from './endpoints.repository.js';
import { standardBody } from './delivery.rules.js';

/** What was delivered, and the way back from a final state. */
@Injectable()
export class Deliveries {
  constructor(
    private readonly database: Database,
    private readonly job: DeliveryJob,
  ) {}

  async list(query: WebhookDeliveryQuery, { keyId } = OPERATOR): Promise<List<WebhookDelivery>> {
    const { rows, pagination } = await listPage<DeliveryRow>(this.database, deliveryList(query, keyId), query);
    return { data: rows.map(toDeliveryDto), pagination };
  }

  async get(id: string, { keyId } = OPERATOR): Promise<WebhookDelivery> {
    const row = await findDelivery(this.database, id, keyId);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no webhook delivery ${id}`);
    return toDeliveryDto(row);
  }

  async retry(id: string, scope = OPERATOR): Promise<WebhookDelivery> {
    await this.get(id, scope);
    if (!(await retryDelivery(this.database, id))) {
      throw apiError(ADMIN_API, 'conflict', 'the delivery is being tried at this moment; try again shortly');
    }
    this.job.runDue();
    return this.get(id, scope);
  }

  async retryFailed({ endpointId, from, to, dryRun }: RetryWebhookDeliveries): Promise<RetriedWebhookDeliveries> {
    if ((await findEndpoint(this.database, endpointId, null)) === undefined) {
      throw invalid([
        { path: 'endpointId', rule: 'isKnown', message: 'endpointId must be the id of a webhook endpoint' },
      ]);
    }
    if (dryRun === true) return { matched: await countFailed(this.database, endpointId, from, to) };
    const matched = await retryFailed(this.database, endpointId, from, to);
    this.job.runDue();
    return { matched };
  }
}

function toDeliveryDto(row: DeliveryRow): WebhookDelivery {
  const { response_status: status, response_body: body } = row;
  return present(WebhookDelivery, {
    ...row,
    nextAt: row.due_at,
    lastResponse: status === null ? null : { status, body: body ?? '' },
    body: standardBody(row),
  });
}
