import type { MigrationInterface } from 'typeorm';
import { CreateHaulers1763600000000 } from '../../migrations/1763600000000-create-haulers.js';
import { CreateApiKeys1763600050000 } from '../../migrations/1763600050000-create-api-keys.js';
import { CreateIdempotencyKeys1763600100000 } from '../../migrations/1763600100000-create-idempotency-keys.js';
import { CreateCatalog1763600210000 } from '../../migrations/1763600210000-create-catalog.js';
import { CreateTickets1763600220000 } from '../../migrations/1763600220000-create-tickets.js';
import { CreateAccounts1763600300000 } from '../../migrations/1763600300000-create-accounts.js';
import { CreateConnections1763600400000 } from '../../migrations/1763600400000-create-connections.js';
import { CreateHostedSiteData1763600600000 } from '../../migrations/1763600600000-create-hosted-site-data.js';
import { CreateSyncRuns1763600650000 } from '../../migrations/1763600650000-create-sync-runs.js';
import { CreateHostedVision1763600700000 } from '../../migrations/1763600700000-create-hosted-vision.js';
import { CreateVision1763600800000 } from '../../migrations/1763600800000-create-vision.js';
import { CountRecordings1763600810000 } from '../../migrations/1763600810000-count-recordings.js';
import { DropUnusedColumns1763600820000 } from '../../migrations/1763600820000-drop-unused-columns.js';
import { NumberCatalogLayouts1763600830000 } from '../../migrations/1763600830000-number-catalog-layouts.js';
import { KeyClipsByRange1763600840000 } from '../../migrations/1763600840000-key-clips-by-range.js';
import { CreatePartnerCameraNames1763600850000 } from '../../migrations/1763600850000-create-partner-camera-names.js';
import { NumberCatalogChanges1763600860000 } from '../../migrations/1763600860000-number-catalog-changes.js';
import { RememberWhenWindowsWereLaidBy1763600870000 } from '../../migrations/1763600870000-remember-when-windows-were-laid-by.js';
import { GroupVisionWork1763600890000 } from '../../migrations/1763600890000-group-vision-work.js';
import { GroupWindowsByConnection1763600930000 } from '../../migrations/1763600930000-group-windows-by-connection.js';
import { CheckTicketKeysAtOnce1763600940000 } from '../../migrations/1763600940000-check-ticket-keys-at-once.js';
import { RememberStorageRoots1763600950000 } from '../../migrations/1763600950000-remember-storage-roots.js';

/** Every migration, oldest first. Named here one by one: a glob would load whatever lies in the folder. */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateHaulers1763600000000,
  CreateApiKeys1763600050000,
  CreateIdempotencyKeys1763600100000,
  CreateCatalog1763600210000,
  CreateTickets1763600220000,
  CreateAccounts1763600300000,
  CreateConnections1763600400000,
  CreateHostedSiteData1763600600000,
  CreateSyncRuns1763600650000,
  CreateHostedVision1763600700000,
  CreateVision1763600800000,
  CountRecordings1763600810000,
  DropUnusedColumns1763600820000,
  NumberCatalogLayouts1763600830000,
  KeyClipsByRange1763600840000,
  CreatePartnerCameraNames1763600850000,
  NumberCatalogChanges1763600860000,
  RememberWhenWindowsWereLaidBy1763600870000,
  GroupVisionWork1763600890000,
  GroupWindowsByConnection1763600930000,
  CheckTicketKeysAtOnce1763600940000,
  RememberStorageRoots1763600950000,
];
