import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AccountsController } from './accounts.controller.js';

/** Administration of what the platform side keeps; loaded with that side. */
@Module({ imports: [AccountsModule], controllers: [AccountsController] })
export class PlatformAdminModule {}
