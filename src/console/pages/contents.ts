import type { ComponentType } from 'preact';
import type { ConsolePage } from '../../contracts/admin/console-pages.values.js';
import type { PageProps } from '../client/address.js';
import { AccountsPage } from './accounts/accounts.js';
import { ActionsPage } from './actions/actions.js';
import { ClipsPage } from './clips/clips.js';
import { ConnectionHomePage } from './connections/connection-home.js';
import { ConnectionsPage } from './connections/connections.js';
import { CoveragePage } from './coverage/coverage.js';
import { ExchangesPage } from './exchanges/exchanges.js';
import { HaulersPage } from './haulers/haulers.js';
import { HoldsPage } from './holds/holds.js';
import { KeysPage } from './keys/keys.js';
import { OwnRecordingsPage } from './recordings/own-recordings.js';
import { RecordingsPage } from './recordings/recordings.js';
import { ReportsPage } from './reports/reports.js';
import { RetentionPage } from './retention/retention.js';
import { SandboxPage } from './sandbox/sandbox.js';
import { SessionsPage } from './sessions/sessions.js';
import { SyncPage } from './sync/sync.js';
import { TicketsPage } from './tickets/tickets.js';
import { WebhooksPage } from './webhooks/webhooks.js';

type Contents = Readonly<Record<Exclude<ConsolePage, ''> | 'ownHome' | 'ownRecordings', ComponentType<PageProps>>>;

/** All pages but the first, as one script: it is a fifth smaller than one for each of them, and all of them are loaded anyway. */
export const CONTENTS: Contents = {
  coverage: CoveragePage,
  recordings: RecordingsPage,
  clips: ClipsPage,
  holds: HoldsPage,
  retention: RetentionPage,
  sync: SyncPage,
  tickets: TicketsPage,
  accounts: AccountsPage,
  reports: ReportsPage,
  exchanges: ExchangesPage,
  haulers: HaulersPage,
  connections: ConnectionsPage,
  keys: KeysPage,
  webhooks: WebhooksPage,
  sandbox: SandboxPage,
  actions: ActionsPage,
  sessions: SessionsPage,
  ownHome: ConnectionHomePage,
  ownRecordings: OwnRecordingsPage,
};
