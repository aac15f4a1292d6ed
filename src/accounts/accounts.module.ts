import { Module } from '@nestjs/common';
import { AccountController } from './account.controller.js';
import { AccountQueries } from './account-queries.js';
import { AccountService } from './account.service.js';

@Module({
  controllers: [AccountController],
  providers: [AccountService, AccountQueries],
  exports: [AccountQueries],
})
export class AccountsModule {}
