import { Module } from '@nestjs/common';
import { AccountController } from './account.controller.js';
import { AccountHistory } from './account-history.service.js';
import { AccountQueries } from './account-queries.js';
import { AccountService } from './account.service.js';

@Module({
  controllers: [AccountController],
  providers: [AccountService, AccountQueries, AccountHistory],
  exports: [AccountQueries, AccountHistory],
})
export class AccountsModule {}
