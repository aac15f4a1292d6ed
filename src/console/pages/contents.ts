/** All pages but the first, as one script: it is a fifth smaller than one for each of them, and all of them are loaded anyway. */
export { CoveragePage as coverage } from './coverage/coverage.js';
export { RecordingList as ownRecordings, RecordingsPage as recordings } from './recordings/recordings.js';
export { ClipsPage as clips } from './clips/clips.js';
export { HoldsPage as holds } from './holds/holds.js';
export { RetentionPage as retention } from './retention/retention.js';
export { SyncPage as sync } from './sync/sync.js';
export { TicketsPage as tickets } from './tickets/tickets.js';
export { AccountsPage as accounts } from './accounts/accounts.js';
export { ReportsPage as reports } from './reports/reports.js';
export { ExchangesPage as exchanges } from './exchanges/exchanges.js';
export { HaulersPage as haulers } from './haulers/haulers.js';
export { ConnectionsPage as connections } from './connections/connections.js';
export { KeysPage as keys } from './keys/keys.js';
export { WebhooksPage as webhooks } from './webhooks/webhooks.js';
export { SandboxPage as sandbox } from './sandbox/sandbox.js';
export { ActionsPage as actions } from './actions/actions.js';
export { SessionsPage as sessions } from './sessions/sessions.js';
export { ConnectionHomePage as ownHome } from './connections/connection-home.js';
