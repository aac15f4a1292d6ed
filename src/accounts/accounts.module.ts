import { Module } from '@nestjs/common';
import { AccountController } from './account.controller.js';
import { AccountHistory } from './account-history.service.js';
import { AccountQueries } from './account-queries.js';
import { AccountService } from './account.service.js';
import { AccountImports } from './import/account-import.service.js';
import { ImportBatches } from './import/import-batches.js';

@Module({
  controllers: [AccountController],
  providers: [AccountService, AccountQueries, AccountHistory, AccountImports, ImportBatches],
  exports: [AccountQueries, AccountHistory, AccountImports],
})
export class AccountsModule {}
