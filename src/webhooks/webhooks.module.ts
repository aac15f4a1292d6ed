import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { SiteSyncModule } from '../site-sync/site-sync.module.js';
import { VisionModule } from '../vision/vision.module.js';
import { WorkModule } from '../work/work.module.js';
import { AdminWebhooksController } from './admin-webhooks.controller.js';
import { Deliveries } from './deliveries.service.js';
import { DeliveryJob } from './delivery.job.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliverySweep } from './delivery-sweep.job.js';
import { WebhookEndpoints } from './endpoints.service.js';
import { HttpSender } from './http-sender.js';
import { MailSender } from './mail-sender.js';
import { PartnerWebhooksController } from './partner-webhooks.controller.js';
import { StateReader } from './state-reader.service.js';
import { StatesJob } from './states.job.js';
import { WebhookAttention } from './webhook-attention.js';

/** Webhook endpoints and deliveries to them; loaded with the platform side. */
@Module({
  imports: [AdminModule, OutboundModule, SiteSyncModule, VisionModule, WorkModule],
  controllers: [AdminWebhooksController, PartnerWebhooksController],
  providers: [
    Deliveries,
    DeliveryJob,
    DeliverySender,
    DeliverySweep,
    HttpSender,
    MailSender,
    StateReader,
    StatesJob,
    WebhookAttention,
    WebhookEndpoints,
  ],
})
export class WebhooksModule {}
