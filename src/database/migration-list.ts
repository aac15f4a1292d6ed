import type { MigrationInterface } from 'typeorm';
import { CreateAuth1795570010000 } from '../../migrations/1795570010000-create-auth.js';
import { CreateIdempotency1795570020000 } from '../../migrations/1795570020000-create-idempotency.js';
import { CreateScale1795570030000 } from '../../migrations/1795570030000-create-scale.js';
import { CreateAccounts1795570040000 } from '../../migrations/1795570040000-create-accounts.js';
import { CreatePartnerClient1795570050000 } from '../../migrations/1795570050000-create-partner-client.js';
import { CreateSiteSync1795570060000 } from '../../migrations/1795570060000-create-site-sync.js';
import { CreateVision1795570070000 } from '../../migrations/1795570070000-create-vision.js';
import { CreateReferenceSite1795570080000 } from '../../migrations/1795570080000-create-reference-site.js';
import { CreateReferenceVision1795570090000 } from '../../migrations/1795570090000-create-reference-vision.js';
import { CreateStorage1795570100000 } from '../../migrations/1795570100000-create-storage.js';
import { CreateSandbox1795570250000 } from '../../migrations/1795570250000-create-sandbox.js';
import { CreateExchanges1795570305000 } from '../../migrations/1795570305000-create-exchanges.js';

/** Every migration, oldest first. They are listed here because a glob would load any file in the folder. */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateAuth1795570010000,
  CreateIdempotency1795570020000,
  CreateScale1795570030000,
  CreateAccounts1795570040000,
  CreatePartnerClient1795570050000,
  CreateSiteSync1795570060000,
  CreateVision1795570070000,
  CreateReferenceSite1795570080000,
  CreateReferenceVision1795570090000,
  CreateStorage1795570100000,
  CreateSandbox1795570250000,
  CreateExchanges1795570305000,
];
