import { Module } from '@nestjs/common';

/** Administration of what the platform side keeps; loaded with that side. */
@Module({})
export class PlatformAdminModule {}
