import { Module } from '@nestjs/common';
import { OutboundModule } from '../core/outbound/outbound-switch.js';
import { WorkModule } from '../core/work/work.service.js';
import { AdminWebhooksController, PartnerWebhooksController } from './webhooks.controller.js';
import { Deliveries } from './deliveries.service.js';
import { DeliveryJob, DeliverySweep } from './delivery.job.js';
import { DeliverySender, MailSender } from './delivery-sender.js';
import { WebhookEndpoints } from './endpoints.service.js';
import { HttpSender } from './http-sender.js';

/**
 * Webhook endpoints, and the deliveries to them. What happens is written into `events/` by the transaction in which it happens; this
 * folder sends it, and knows topics, not the modules that write them. Loaded with the platform side.
 */
@Module({
  imports: [OutboundModule, WorkModule],
  controllers: [AdminWebhooksController, PartnerWebhooksController],
  providers: [Deliveries, DeliveryJob, DeliverySender, DeliverySweep, HttpSender, MailSender, WebhookEndpoints],
  exports: [DeliveryJob],
})
export class WebhooksModule {}
