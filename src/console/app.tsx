import { type ComponentType, render } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type AdminRole, includesRole } from '../contracts/common/roles.values.js';
import { type PageProps, useAddress } from './client/address.js';
import { CallError } from './client/api.js';
import { HaulersProvider } from './client/haulers.js';
import { Empty, ErrorBox, Loading } from './parts/states.js';
import { HomePage } from './pages/home.js';
import { type Session, SessionContext, useSessionState } from './client/session.js';
import { followTranslation, markValues } from './client/translation.js';
import { CellSwitch } from './parts/cells.js';
import { lazyPage, preloadPages } from './parts/lazy-page.js';
import { SandboxBanner } from './parts/sandbox-banner.js';
import { SignIn, SignInDialog } from './parts/sign-in.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';
import './styles/runs.css';

const ActionsPage = lazyPage(async () => (await import('./pages/actions.js')).ActionsPage);
const AccountsPage = lazyPage(async () => (await import('./pages/accounts.js')).AccountsPage);
const CoveragePage = lazyPage(async () => (await import('./pages/coverage.js')).CoveragePage);
const ConnectionHomePage = lazyPage(async () => (await import('./pages/connection-home.js')).ConnectionHomePage);
const ConnectionsPage = lazyPage(async () => (await import('./pages/connections.js')).ConnectionsPage);
const ExchangesPage = lazyPage(async () => (await import('./pages/exchanges.js')).ExchangesPage);
const HaulersPage = lazyPage(async () => (await import('./pages/haulers.js')).HaulersPage);
const HoldsPage = lazyPage(async () => (await import('./pages/holds.js')).HoldsPage);
const KeysPage = lazyPage(async () => (await import('./pages/keys.js')).KeysPage);
const OwnRecordingsPage = lazyPage(async () => (await import('./pages/own-recordings.js')).OwnRecordingsPage);
const RecordingsPage = lazyPage(async () => (await import('./pages/recordings.js')).RecordingsPage);
const ReportsPage = lazyPage(async () => (await import('./pages/reports.js')).ReportsPage);
const RetentionPage = lazyPage(async () => (await import('./pages/retention.js')).RetentionPage);
const SessionsPage = lazyPage(async () => (await import('./pages/sessions.js')).SessionsPage);
const SandboxPage = lazyPage(async () => (await import('./pages/sandbox.js')).SandboxPage);
const SyncPage = lazyPage(async () => (await import('./pages/sync.js')).SyncPage);
const TicketsPage = lazyPage(async () => (await import('./pages/tickets.js')).TicketsPage);
const WebhooksPage = lazyPage(async () => (await import('./pages/webhooks.js')).WebhooksPage);

/** The first page has its own calls to make before. */
const PRELOAD_MS = 1_000;

interface Page {
  readonly path: string;
  readonly title: string;
  readonly Content: ComponentType<PageProps>;
  /** Also for the key of a partner. */
  readonly isPartners?: boolean;
  /** Also if the service has no platform side. */
  readonly isOfBothSides?: boolean;
  /** The role that its changes need; `operator` by default. */
  readonly writes?: AdminRole;
  /** The role that it needs. */
  readonly needs?: AdminRole;
  /** Not for a session that is limited to haulers. */
  readonly isOfAllHaulers?: boolean;
}

interface ConnectionPage extends Page {
  /** The interface of the connections that have it; absent for both. */
  readonly of?: Session['connectionInterface'];
}

const PAGES: readonly Page[] = [
  { path: '', title: 'Home', Content: HomePage, isOfBothSides: true },
  { path: 'coverage', title: 'Coverage', Content: CoveragePage },
  { path: 'recordings', title: 'Recordings', Content: RecordingsPage },
  { path: 'holds', title: 'Holds', Content: HoldsPage },
  { path: 'retention', title: 'Retention', Content: RetentionPage, writes: 'admin', isOfAllHaulers: true },
  { path: 'sync', title: 'Synchronisation', Content: SyncPage },
  { path: 'tickets', title: 'Tickets', Content: TicketsPage },
  { path: 'accounts', title: 'Accounts', Content: AccountsPage },
  { path: 'reports', title: 'Reports', Content: ReportsPage },
  { path: 'exchanges', title: 'Exchanges', Content: ExchangesPage, isOfBothSides: true, isPartners: true },
  { path: 'haulers', title: 'Haulers', Content: HaulersPage, isOfBothSides: true, writes: 'admin' },
  { path: 'connections', title: 'Connections', Content: ConnectionsPage, writes: 'admin' },
  { path: 'keys', title: 'API keys', Content: KeysPage, isOfBothSides: true, writes: 'admin' },
  { path: 'webhooks', title: 'Webhooks', Content: WebhooksPage, writes: 'admin', isOfAllHaulers: true },
  {
    path: 'sandbox',
    title: 'Sandbox',
    Content: SandboxPage,
    isOfBothSides: true,
    isPartners: true,
    isOfAllHaulers: true,
  },
  { path: 'actions', title: 'Actions', Content: ActionsPage, isOfBothSides: true, isOfAllHaulers: true },
  {
    path: 'sessions',
    title: 'Sessions',
    Content: SessionsPage,
    isOfBothSides: true,
    isOfAllHaulers: true,
    needs: 'admin',
    writes: 'admin',
  },
];

/** For the key of a connection: how the platform reads its partner. */
const CONNECTION_PAGES: readonly ConnectionPage[] = [
  { path: '', title: 'Home', Content: ConnectionHomePage },
  { path: 'exchanges', title: 'Exchanges', Content: ExchangesPage },
  { path: 'sync', title: 'Synchronisation', Content: SyncPage, of: 'site' },
  { path: 'recordings', title: 'Recordings', Content: OwnRecordingsPage, of: 'vision' },
];

function pagesOf({
  kind,
  sides,
  connectionId,
  connectionInterface,
  role = 'viewer',
  haulers,
}: Session): readonly Page[] {
  if (typeof connectionId === 'string') {
    return CONNECTION_PAGES.filter(({ of }) => of === undefined || of === connectionInterface);
  }
  return PAGES.filter(
    ({ isPartners, isOfBothSides, needs = 'viewer', isOfAllHaulers }) =>
      (kind !== 'partner' || isPartners) &&
      (sides.includes('platform') || isOfBothSides) &&
      (kind === 'partner' || includesRole(role, needs)) &&
      (haulers === undefined || isOfAllHaulers !== true),
  );
}

/** The name of a person or token, with its role and how many haulers it may see. */
function Who({ session: { kind, name, role, haulers, keyPrefix } }: { session: Session }) {
  const limit = haulers === undefined ? '' : `, ${haulers.length === 1 ? '1 hauler' : `${haulers.length} haulers`}`;
  return (
    <span class="who">
      <span class="who-name">{kind === 'partner' ? 'Partner' : name}</span>{' '}
      {role !== undefined && (
        <span class="badge plain">
          {role}
          {limit}
        </span>
      )}
      {keyPrefix !== undefined && <code>{keyPrefix}</code>}
    </span>
  );
}

function App() {
  const { state, isExpired, apply, load, signOut } = useSessionState();
  if (state === 'loading') return <Loading />;
  if (state === 'signed-out') {
    return (
      <main class="centre">
        <SignIn onSignIn={apply} />
      </main>
    );
  }
  if (state instanceof CallError) {
    return (
      <main class="centre">
        <h1 class="hidden">haulbridge console</h1>
        <ErrorBox error={state} onRetry={() => void load().catch(reportError)} />
      </main>
    );
  }
  return (
    <SessionContext.Provider value={state}>
      <Layout session={state} onSignOut={() => void signOut().catch(reportError)} />
      {isExpired && <SignInDialog onSignIn={apply} />}
    </SessionContext.Provider>
  );
}

const NOT_FOUND: Omit<Page, 'path'> = { title: 'No such page', Content: NoPage };

function NoPage() {
  const session = useContext(SessionContext);
  const { page: address } = useAddress();
  const page = PAGES.find(({ path }) => path === address);
  return (
    <Empty title={page === undefined ? 'There is no page at this address.' : `You may not open ${page.title}.`}>
      {page === undefined ? 'It may be mistyped.' : refusalOf(page, session)}{' '}
      <a href="/console/">Go to the first page</a>, or choose one from the list.
    </Empty>
  );
}

/** Why a page of the console is not open to a session. */
function refusalOf({ title, needs = 'viewer' }: Page, { kind, role = 'viewer', haulers, sides }: Session): string {
  if (kind !== 'partner' && !includesRole(role, needs)) {
    return `${title} needs the role ${needs}; this session has the role ${role}.`;
  }
  if (haulers !== undefined) return `${title} concerns all haulers; this session is limited to some of them.`;
  return kind === 'partner' || sides.includes('platform')
    ? 'The key of a partner does not open it.'
    : 'This service has the partner side alone (SIDES).';
}

function Layout({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const { page: path, query } = useAddress();
  const pages = pagesOf(session);
  const known = pages.find((page) => page.path === path);
  const { title, Content, writes } = known ?? (path === '' ? pages[0]! : NOT_FOUND);
  const main = useRef<HTMLElement>(null);
  const navigation = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    const timer = setTimeout(() => void preloadPages().catch(reportError), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · haulbridge console`;
    // A screen reader continues at the new page.
    if (shown.current !== path) main.current?.focus();
    shown.current = path;
    // On a phone the navigation scrolls to the page. `scrollIntoView` would also move the start of the first Tab there.
    const link = navigation.current?.querySelector<HTMLElement>('[aria-current]');
    if (link != null) navigation.current?.scrollTo({ left: link.offsetLeft - innerWidth / 2 + link.offsetWidth / 2 });
  }, [path, title]);
  return (
    <div class="layout">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <a class="brand" href="/console/">
          haulbridge
        </a>
        <CellSwitch cell={session.cell} cells={session.cells} page={path} />
        <Who session={session} />
        <a href="/docs" target="_blank" rel="noopener">
          API documents
        </a>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <nav aria-label="Pages" ref={navigation}>
        <ul>
          {pages.map((page) => (
            <li key={page.path}>
              <a href={`/console/${page.path}`} aria-current={page.title === title ? 'page' : undefined}>
                {page.title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <SandboxBanner />
        <h1>{title}</h1>
        <SessionContext.Provider value={writes === undefined ? session : { ...session, writes }}>
          <HaulersProvider>
            <Content key={path} query={query} />
          </HaulersProvider>
        </SessionContext.Provider>
      </main>
    </div>
  );
}

const root = document.getElementById('console');
if (root !== null) {
  markValues();
  followTranslation(root);
  render(<App />, root);
}
