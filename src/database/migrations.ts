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
import { AddActionErrors1795570410000 } from '../../migrations/1795570410000-add-action-errors.js';
import { NameKeysOfAllCustomers1795570420000 } from '../../migrations/1795570420000-name-keys-of-all-customers.js';
import { CreateExchangeDays1795570421000 } from '../../migrations/1795570421000-create-exchange-days.js';
import { CreateConsoleSessions1795570430000 } from '../../migrations/1795570430000-create-console-sessions.js';
import { ListExchangeReferences1795570431000 } from '../../migrations/1795570431000-list-exchange-references.js';
import { ScopeSandboxScenarios1795570440000 } from '../../migrations/1795570440000-scope-sandbox-scenarios.js';
import { IndexLongRecordings1795570441000 } from '../../migrations/1795570441000-index-long-recordings.js';
import { ListWithoutCounters1795570450000 } from '../../migrations/1795570450000-list-without-counters.js';
import { SearchAccountsByTrigrams1795570451000 } from '../../migrations/1795570451000-search-accounts-by-trigrams.js';
import { DropRecordingDays1795570453000 } from '../../migrations/1795570453000-drop-recording-days.js';
import { WorkInLanes1795570460000 } from '../../migrations/1795570460000-work-in-lanes.js';
import { ShowDownloadsByStart1795570461000 } from '../../migrations/1795570461000-show-downloads-by-start.js';
import { FindLanesOfDownloads1795570462000 } from '../../migrations/1795570462000-find-lanes-of-downloads.js';
import { RereadByAge1795570470000 } from '../../migrations/1795570470000-reread-by-age.js';
import { DropPageOfPolls1795570471000 } from '../../migrations/1795570471000-drop-page-of-polls.js';
import { TryDownloadsUntilDeadline1795570480000 } from '../../migrations/1795570480000-try-downloads-until-deadline.js';
import { KeepUnansweredPosts1795570490000 } from '../../migrations/1795570490000-keep-unanswered-posts.js';
import { GiveMaterialsSeveralParents1795570491000 } from '../../migrations/1795570491000-give-materials-several-parents.js';
import { GiveConnectionsFirstByteTimeout1795570500000 } from '../../migrations/1795570500000-give-connections-first-byte-timeout.js';
import { IssueKeysForConnections1795570510000 } from '../../migrations/1795570510000-issue-keys-for-connections.js';
import { RememberVersions1795570520000 } from '../../migrations/1795570520000-remember-versions.js';
import { GroupRefusedRecords1795570521000 } from '../../migrations/1795570521000-group-refused-records.js';
import { ProbeWrites1795570523000 } from '../../migrations/1795570523000-probe-writes.js';
import { IndexFailedExchanges1795570524500 } from '../../migrations/1795570524500-index-failed-exchanges.js';
import { CreateBackupVerifications1795570530000 } from '../../migrations/1795570530000-create-backup-verifications.js';
import { StopOutbound1795570531000 } from '../../migrations/1795570531000-stop-outbound.js';
import { CountRequests1795570540000 } from '../../migrations/1795570540000-count-requests.js';
import { PartitionTicketRevisions1795610000000 } from '../../migrations/1795610000000-partition-ticket-revisions.js';
import { PartitionRecordings1795610001000 } from '../../migrations/1795610001000-partition-recordings.js';
import { MoveHaulers1795620000000 } from '../../migrations/1795620000000-move-haulers.js';
import { NamePeople1795630000000 } from '../../migrations/1795630000000-name-people.js';
import { CreateWebhooks1795640010000 } from '../../migrations/1795640010000-create-webhooks.js';
import { SetTicketFootage1795660010000 } from '../../migrations/1795660010000-set-ticket-footage.js';
import { ShareRecordings1795660020000 } from '../../migrations/1795660020000-share-recordings.js';
import { CreateHolds1795670000000 } from '../../migrations/1795670000000-create-holds.js';
import { CreateErasures1795670001000 } from '../../migrations/1795670001000-create-erasures.js';
import { SumCoverageByDay1795680000000 } from '../../migrations/1795680000000-sum-coverage-by-day.js';
import { KeepIdTokens1795720000000 } from '../../migrations/1795720000000-keep-id-tokens.js';
import { KeyWriteProbes1795730000000 } from '../../migrations/1795730000000-key-write-probes.js';
import { EraseAtOnce1795730000500 } from '../../migrations/1795730000500-erase-at-once.js';
import { AnnounceFiles1795730001000 } from '../../migrations/1795730001000-announce-files.js';
import { DropOldRecordings1795700000000 } from '../../migrations/1795700000000-drop-old-recordings.js';
import { ReadNamesAsShown1795730002000 } from '../../migrations/1795730002000-read-names-as-shown.js';
import { NoticeAbsentLists1795731000000 } from '../../migrations/1795731000000-notice-absent-lists.js';
import { IndexLongIds1795732000000 } from '../../migrations/1795732000000-index-long-ids.js';
import { CountFailuresByCaller1795733000000 } from '../../migrations/1795733000000-count-failures-by-caller.js';
import { SettleCoverageDays1795734000000 } from '../../migrations/1795734000000-settle-coverage-days.js';
import { StoreSiteDataInOneRow1795736000000 } from '../../migrations/1795736000000-store-site-data-in-one-row.js';
import { ListRecordingsAsClips1795736001000 } from '../../migrations/1795736001000-list-recordings-as-clips.js';
import { ListParentsOfMaterials1795737000000 } from '../../migrations/1795737000000-list-parents-of-materials.js';
import { KeepRetentionByRow1795738000000 } from '../../migrations/1795738000000-keep-retention-by-row.js';
import { RereadWithoutPlan1795739000000 } from '../../migrations/1795739000000-reread-without-plan.js';
import { KnowCameras1795740000000 } from '../../migrations/1795740000000-know-cameras.js';
import { CountStoredRecordings1795742000000 } from '../../migrations/1795742000000-count-stored-recordings.js';
import { BuildFlowIndexes1796100000000 } from '../../migrations/1796100000000-build-flow-indexes.js';
import { UseFlowIndexes1796100001000 } from '../../migrations/1796100001000-use-flow-indexes.js';
import { DropExchangeDays1796102000000 } from '../../migrations/1796102000000-drop-exchange-days.js';
import { StoreTicketChanges1796103000000 } from '../../migrations/1796103000000-store-ticket-changes.js';
import { CountRequestsInMemory1796104000000 } from '../../migrations/1796104000000-count-requests-in-memory.js';
import { RequireTrigrams1796104001000 } from '../../migrations/1796104001000-require-trigrams.js';
import { DropBackupVerifications1797000000000 } from '../../migrations/1797000000000-drop-backup-verifications.js';
import { FingerprintSecretsKey1797000001000 } from '../../migrations/1797000001000-fingerprint-secrets-key.js';

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
  AddActionErrors1795570410000,
  NameKeysOfAllCustomers1795570420000,
  CreateExchangeDays1795570421000,
  CreateConsoleSessions1795570430000,
  ListExchangeReferences1795570431000,
  ScopeSandboxScenarios1795570440000,
  IndexLongRecordings1795570441000,
  ListWithoutCounters1795570450000,
  SearchAccountsByTrigrams1795570451000,
  DropRecordingDays1795570453000,
  WorkInLanes1795570460000,
  ShowDownloadsByStart1795570461000,
  FindLanesOfDownloads1795570462000,
  RereadByAge1795570470000,
  DropPageOfPolls1795570471000,
  TryDownloadsUntilDeadline1795570480000,
  KeepUnansweredPosts1795570490000,
  GiveMaterialsSeveralParents1795570491000,
  GiveConnectionsFirstByteTimeout1795570500000,
  IssueKeysForConnections1795570510000,
  RememberVersions1795570520000,
  GroupRefusedRecords1795570521000,
  ProbeWrites1795570523000,
  IndexFailedExchanges1795570524500,
  CreateBackupVerifications1795570530000,
  StopOutbound1795570531000,
  CountRequests1795570540000,
  PartitionTicketRevisions1795610000000,
  PartitionRecordings1795610001000,
  MoveHaulers1795620000000,
  NamePeople1795630000000,
  CreateWebhooks1795640010000,
  SetTicketFootage1795660010000,
  ShareRecordings1795660020000,
  CreateHolds1795670000000,
  CreateErasures1795670001000,
  SumCoverageByDay1795680000000,
  DropOldRecordings1795700000000,
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
];
