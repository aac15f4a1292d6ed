import { Module } from '@nestjs/common';

/** Administration of what the partner side hosts; loaded with that side. */
@Module({})
export class PartnerAdminModule {}
