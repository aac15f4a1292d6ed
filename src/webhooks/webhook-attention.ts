import { Injectable, type OnModuleInit } from '@nestjs/common';
import { consolePage, counted, type Notice } from '../admin/attention/attention.rules.js';
import { AttentionService } from '../admin/attention/attention.service.js';
import { DELIVERY_REASONS } from '../contracts/webhooks/delivery.values.js';
import { formatInstant } from '../contracts/common/instant.js';
import { Database } from '../database/database.js';
import { troubledEndpoints } from './endpoints.repository.js';

const WHY = { gone: 'its receiver answered 410', failing: 'its receiver failed for five days' } as const;

/** Endpoints that the service has disabled, or that fail for more than an hour. */
@Injectable()
export class WebhookAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.attention.add([{ kinds: ['failing-webhooks'], find: () => this.find() }]);
  }

  private async find(): Promise<Notice[]> {
    const endpoints = await troubledEndpoints(this.database);
    return endpoints.map((endpoint) => {
      const { id, hauler_id: haulerId, disabled_reason: reason, failing_since: failing, waiting } = endpoint;
      const cause = endpoint.reason === null ? '' : ` ${DELIVERY_REASONS[endpoint.reason]}`;
      const since = failing ?? endpoint.updated_at;
      const undelivered = `${counted(waiting, 'delivery', 'deliveries')} did not arrive.`;
      const sentence =
        reason === 'gone' || reason === 'failing'
          ? `The webhook endpoint ${id} was disabled: ${WHY[reason]}. ${undelivered}${cause} Enable it when the receiver works.`
          : `The webhook endpoint ${id} has failed since ${formatInstant(since)}. ${undelivered}${cause}`;
      return {
        kind: 'failing-webhooks',
        severity: reason === null ? 'soon' : 'now',
        count: Math.max(1, waiting),
        ...(haulerId === null ? {} : { haulerId }),
        subject: `endpoint ${id}`,
        since,
        sentence,
        page: consolePage('webhooks', { endpoint: id }),
      };
    });
  }
}
