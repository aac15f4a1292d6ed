import { Module } from '@nestjs/common';
import { OutboundModule } from '../core/outbound/outbound.module.js';
import { WorkModule } from '../core/work/work.module.js';
import { AdminWebhooksController } from './admin-webhooks.controller.js';
import { Deliveries } from './deliveries.service.js';
import { DeliveryJob } from './delivery.job.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliverySweep } from './delivery-sweep.job.js';
import { WebhookEndpoints } from './endpoints.service.js';
import { HttpSender } from './http-sender.js';
import { MailSender } from './mail-sender.js';
import { PartnerWebhooksController } from './partner-webhooks.controller.js';

/** Webhook endpoints and deliveries to them; loaded with the platform side. */
@Module({
  imports: [OutboundModule, WorkModule],
  controllers: [AdminWebhooksController, PartnerWebhooksController],
  providers: [Deliveries, DeliveryJob, DeliverySender, DeliverySweep, HttpSender, MailSender, WebhookEndpoints],
  exports: [DeliveryJob],
})
export class WebhooksModule {}
