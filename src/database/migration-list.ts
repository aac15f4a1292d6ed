import type { MigrationInterface } from 'typeorm';
import { CreateAuth1795400010000 } from '../../migrations/1795400010000-create-auth.js';
import { CreateIdempotency1795400020000 } from '../../migrations/1795400020000-create-idempotency.js';
import { CreateScale1795400030000 } from '../../migrations/1795400030000-create-scale.js';
import { CreateAccounts1795400040000 } from '../../migrations/1795400040000-create-accounts.js';
import { CreatePartnerClient1795400050000 } from '../../migrations/1795400050000-create-partner-client.js';
import { CreateSiteSync1795400060000 } from '../../migrations/1795400060000-create-site-sync.js';
import { CreateVision1795400070000 } from '../../migrations/1795400070000-create-vision.js';
import { CreateReferenceSite1795400080000 } from '../../migrations/1795400080000-create-reference-site.js';
import { CreateReferenceVision1795400090000 } from '../../migrations/1795400090000-create-reference-vision.js';
import { CreateStorage1795400100000 } from '../../migrations/1795400100000-create-storage.js';
import { CreateSandbox1795400250000 } from '../../migrations/1795400250000-create-sandbox.js';
import { CreateExchanges1795400300000 } from '../../migrations/1795400300000-create-exchanges.js';
import { AddSyncChanges1795400500000 } from '../../migrations/1795400500000-add-sync-changes.js';
import { CreateActions1795400500100 } from '../../migrations/1795400500100-create-actions.js';
import { IndexCoverage1795400600000 } from '../../migrations/1795400600000-index-coverage.js';
import { AddClipGaps1795400600100 } from '../../migrations/1795400600100-add-clip-gaps.js';
import { IndexLargeTables1795400600200 } from '../../migrations/1795400600200-index-large-tables.js';
import { ReplaceDueIndex1795400600300 } from '../../migrations/1795400600300-replace-due-index.js';
import { CountExchanges1795400700500 } from '../../migrations/1795400700500-count-exchanges.js';
import { CreateClipEvents1795400700600 } from '../../migrations/1795400700600-create-clip-events.js';
import { IndexDueRows1795400800000 } from '../../migrations/1795400800000-index-due-rows.js';
import { IndexHostedRequests1795400800100 } from '../../migrations/1795400800100-index-hosted-requests.js';

/** Every migration, oldest first. They are listed here because a glob would load any file in the folder. */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateAuth1795400010000,
  CreateIdempotency1795400020000,
  CreateScale1795400030000,
  CreateAccounts1795400040000,
  CreatePartnerClient1795400050000,
  CreateSiteSync1795400060000,
  CreateVision1795400070000,
  CreateReferenceSite1795400080000,
  CreateReferenceVision1795400090000,
  CreateStorage1795400100000,
  CreateSandbox1795400250000,
  CreateExchanges1795400300000,
  AddSyncChanges1795400500000,
  CreateActions1795400500100,
  IndexCoverage1795400600000,
  AddClipGaps1795400600100,
  IndexLargeTables1795400600200,
  ReplaceDueIndex1795400600300,
  CountExchanges1795400700500,
  CreateClipEvents1795400700600,
  IndexDueRows1795400800000,
  IndexHostedRequests1795400800100,
];
