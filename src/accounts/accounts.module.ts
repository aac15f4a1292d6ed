import { Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '../core/database/database.js';
import { ExchangeDecisions } from '../exchanges/exchange-decisions.service.js';
import { findAccountDecisions } from './account.repository.js';
import { AccountController } from './account.controller.js';
import { AccountHistory, AccountQueries } from './account-queries.js';
import { AccountService } from './account.service.js';
import { AccountImports } from './import/account-import.service.js';
import { ImportBatches } from './import/import-batches.js';

/**
 * The Account API, hosted for partners: creates each customer account once per name and hauler, and imports them from CSV. It knows no
 * other module of its level: who calls, what is logged and what webhooks announce come from below.
 */
@Module({
  controllers: [AccountController],
  providers: [AccountService, AccountQueries, AccountHistory, AccountImports, ImportBatches],
  exports: [AccountQueries, AccountHistory, AccountImports],
})
export class AccountsModule implements OnModuleInit {
  constructor(
    private readonly decisions: ExchangeDecisions,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.decisions.use('createAccount', (calls) => findAccountDecisions(this.database, calls));
  }
}
