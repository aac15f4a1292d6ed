import type { MigrationInterface } from 'typeorm';
import { CountRequests1795570540000 } from '../../../migrations/1795570540000-schema-of-0.2.0.js';
import { PartitionTicketRevisions1795610000000 } from '../../../migrations/1795610000000-partition-ticket-revisions.js';
import { PartitionRecordings1795610001000 } from '../../../migrations/1795610001000-partition-recordings.js';
import { MoveHaulers1795620000000 } from '../../../migrations/1795620000000-move-haulers.js';
import { NamePeople1795630000000 } from '../../../migrations/1795630000000-name-people.js';
import { CreateWebhooks1795640010000 } from '../../../migrations/1795640010000-create-webhooks.js';
import { SetTicketFootage1795660010000 } from '../../../migrations/1795660010000-set-ticket-footage.js';
import { ShareRecordings1795660020000 } from '../../../migrations/1795660020000-share-recordings.js';
import { CreateHolds1795670000000 } from '../../../migrations/1795670000000-create-holds.js';
import { KeepIdTokens1795720000000 } from '../../../migrations/1795720000000-keep-id-tokens.js';
import { KeyWriteProbes1795730000000 } from '../../../migrations/1795730000000-key-write-probes.js';
import { EraseAtOnce1795730000500 } from '../../../migrations/1795730000500-create-erasures.js';
import { AnnounceFiles1795730001000 } from '../../../migrations/1795730001000-announce-files.js';
import { ReadNamesAsShown1795730002000 } from '../../../migrations/1795730002000-read-names-as-shown.js';
import { NoticeAbsentLists1795731000000 } from '../../../migrations/1795731000000-notice-absent-lists.js';
import { IndexLongIds1795732000000 } from '../../../migrations/1795732000000-index-long-ids.js';
import { CountFailuresByCaller1795733000000 } from '../../../migrations/1795733000000-count-failures-by-caller.js';
import { SettleCoverageDays1795734000000 } from '../../../migrations/1795734000000-settle-coverage-days.js';
import { StoreSiteDataInOneRow1795736000000 } from '../../../migrations/1795736000000-store-site-data-in-one-row.js';
import { ListRecordingsAsClips1795736001000 } from '../../../migrations/1795736001000-list-recordings-as-clips.js';
import { ListParentsOfMaterials1795737000000 } from '../../../migrations/1795737000000-list-parents-of-materials.js';
import { KeepRetentionByRow1795738000000 } from '../../../migrations/1795738000000-keep-retention-by-row.js';
import { RereadWithoutPlan1795739000000 } from '../../../migrations/1795739000000-reread-without-plan.js';
import { KnowCameras1795740000000 } from '../../../migrations/1795740000000-know-cameras.js';
import { CountStoredRecordings1795742000000 } from '../../../migrations/1795742000000-count-stored-recordings.js';
import { BuildFlowIndexes1796100000000 } from '../../../migrations/1796100000000-build-flow-indexes.js';
import { UseFlowIndexes1796100001000 } from '../../../migrations/1796100001000-use-flow-indexes.js';
import { DropExchangeDays1796102000000 } from '../../../migrations/1796102000000-drop-exchange-days.js';
import { StoreTicketChanges1796103000000 } from '../../../migrations/1796103000000-store-ticket-changes.js';
import { CountRequestsInMemory1796104000000 } from '../../../migrations/1796104000000-count-requests-in-memory.js';
import { RequireTrigrams1796104001000 } from '../../../migrations/1796104001000-require-trigrams.js';
import { DropBackupVerifications1797000000000 } from '../../../migrations/1797000000000-drop-backup-verifications.js';
import { FingerprintSecretsKey1797000001000 } from '../../../migrations/1797000001000-fingerprint-secrets-key.js';
import { DropHaulerMoves1797001000000 } from '../../../migrations/1797001000000-drop-hauler-moves.js';
import { StoreRootsOfKeys1797003000000 } from '../../../migrations/1797003000000-store-roots-of-keys.js';
import { SendPeopleStatesAlone1797003001000 } from '../../../migrations/1797003001000-send-people-states-alone.js';
import { DropViewsOfShares1797006000000 } from '../../../migrations/1797006000000-drop-views-of-shares.js';
import { FindAndCountCalls1798002000000 } from '../../../migrations/1798002000000-find-and-count-calls.js';
import { IndexClipsByTime1798003000000 } from '../../../migrations/1798003000000-index-clips-by-time.js';

/**
 * Every migration, oldest first. They are listed here because a glob would load any file in the folder. Where several were joined, the
 * one that is left has the name of the last: a database that has applied all of them has it already.
 */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CountRequests1795570540000,
  PartitionTicketRevisions1795610000000,
  PartitionRecordings1795610001000,
  MoveHaulers1795620000000,
  NamePeople1795630000000,
  CreateWebhooks1795640010000,
  SetTicketFootage1795660010000,
  ShareRecordings1795660020000,
  CreateHolds1795670000000,
  KeepIdTokens1795720000000,
  KeyWriteProbes1795730000000,
  EraseAtOnce1795730000500,
  AnnounceFiles1795730001000,
  ReadNamesAsShown1795730002000,
  NoticeAbsentLists1795731000000,
  IndexLongIds1795732000000,
  CountFailuresByCaller1795733000000,
  SettleCoverageDays1795734000000,
  StoreSiteDataInOneRow1795736000000,
  ListRecordingsAsClips1795736001000,
  ListParentsOfMaterials1795737000000,
  KeepRetentionByRow1795738000000,
  RereadWithoutPlan1795739000000,
  KnowCameras1795740000000,
  CountStoredRecordings1795742000000,
  BuildFlowIndexes1796100000000,
  UseFlowIndexes1796100001000,
  DropExchangeDays1796102000000,
  StoreTicketChanges1796103000000,
  CountRequestsInMemory1796104000000,
  RequireTrigrams1796104001000,
  DropBackupVerifications1797000000000,
  FingerprintSecretsKey1797000001000,
  DropHaulerMoves1797001000000,
  StoreRootsOfKeys1797003000000,
  SendPeopleStatesAlone1797003001000,
  DropViewsOfShares1797006000000,
  FindAndCountCalls1798002000000,
  IndexClipsByTime1798003000000,
];
