import { Module } from '@nestjs/common';
import { HostedSitesModule } from '../site-sync/hosted/hosted-sites.module.js';
import { HostedVisionModule } from '../vision/hosted/hosted-vision.module.js';
import { HostedSiteDataController } from './hosted-site-data.controller.js';
import { HostedVisionAdminController } from './hosted-vision.controller.js';

/** Administration of what the partner side hosts; loaded with that side. */
@Module({
  imports: [HostedSitesModule, HostedVisionModule],
  controllers: [HostedSiteDataController, HostedVisionAdminController],
})
export class PartnerAdminModule {}
