import { Module } from '@nestjs/common';
import { HostedSitesController } from './hosted-sites.controller.js';
import { HostedSiteApi } from './site-api.service.js';
import { HostedSiteData } from './site-data.service.js';

/**
 * The partner side of the Site API, for a partner who has none of its own. It stands alone: delete this folder with
 * `admin/hosted-site-data.controller.ts`, `hosted-site-data` in `cli/hosted.commands.ts` and their lines in
 * `admin/partner-admin.module.ts`, `cli/cli.module.ts`, `cli/program.ts` and `app.module.ts`, and the platform compiles.
 */
@Module({
  controllers: [HostedSitesController],
  providers: [HostedSiteApi, HostedSiteData],
  exports: [HostedSiteData],
})
export class HostedSitesModule {}
