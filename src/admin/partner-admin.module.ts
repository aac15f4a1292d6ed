import { Module } from '@nestjs/common';
import { HostedSitesModule } from '../site-sync/hosted/hosted-sites.module.js';
import { HostedSiteDataController } from './hosted-site-data.controller.js';

/** Administration of what the partner side hosts; loaded with that side. */
@Module({ imports: [HostedSitesModule], controllers: [HostedSiteDataController] })
export class PartnerAdminModule {}
