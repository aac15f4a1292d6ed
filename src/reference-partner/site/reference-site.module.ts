import { Module } from '@nestjs/common';
import { ReferenceSiteController } from './site.controller.js';
import { ReferenceSiteApi } from './site-api.service.js';
import { ReferenceSiteData } from './site-data.service.js';

/**
 * The Site API of the reference partner. To remove the reference partner, delete its folder and its uses in `app.module`,
 * in `admin/` (`hosted.controller`, `sandbox.controller`, `doctor`) and in `partner-api/`.
 */
@Module({
  controllers: [ReferenceSiteController],
  providers: [ReferenceSiteApi, ReferenceSiteData],
  exports: [ReferenceSiteData],
})
export class ReferenceSiteModule {}
