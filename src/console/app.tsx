import { type ComponentChildren, render } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CONSOLE_PAGES, type ConsolePage } from '../contracts/admin/console-pages.values.js';
import { type AdminRole, includesRole } from '../contracts/common/roles.values.js';
import { type PageProps, useAddress } from './client/address.js';
import { CallError } from './client/api.js';
import { copyWholeTimes } from './client/copied-times.js';
import { keepFocus } from './client/focus.js';
import { HaulersProvider } from './client/haulers.js';
import { useLoad } from './client/load.js';
import { Empty, ErrorBox, Loading } from './parts/states.js';
import { HomePage } from './pages/home/home.js';
import { type Session, SessionContext, useSessionState } from './client/session.js';
import { type ContentName, LazyPage, loadPages } from './pages/lazy-page.js';
import { SearchField } from './parts/search.js';
import { SandboxBanner } from './parts/sandbox-banner.js';
import { SignIn, SignInDialog } from './parts/sign-in.js';
import { formatCount } from './parts/values.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';
import './styles/runs.css';

/*
 * The console: static pages that call the admin API, or the partner API with the key of a connection. It imports types of the contracts
 * and values of `*.values.ts`; the service does not know of it but for its files.
 */

/** The first page has its own calls to make before. */
const PRELOAD_MS = 1_000;

interface Page {
  /** Its place in the navigation; absent where that has no groups. */
  readonly group?: string;
  /** That of its path by default. */
  readonly content?: ContentName;
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
  /** For the key of a connection: the interface of the connections that have it; absent for both. */
  readonly of?: Session['connectionInterface'];
}

type Pages = Readonly<Partial<Record<ConsolePage, Page>>>;

const PAGES: Readonly<Record<ConsolePage, Page>> = {
  '': { group: 'Overview', isOfBothSides: true },
  coverage: { group: 'Footage' },
  recordings: { group: 'Footage' },
  clips: { group: 'Footage' },
  tickets: { group: 'Tickets' },
  accounts: { group: 'Tickets' },
  reports: { group: 'Tickets' },
  exchanges: { group: 'Tickets', isOfBothSides: true, isPartners: true },
  haulers: { group: 'Partners', isOfBothSides: true, writes: 'admin' },
  connections: { group: 'Partners', writes: 'admin' },
  sync: { group: 'Partners' },
  keys: { group: 'Partners', isOfBothSides: true, writes: 'admin' },
  webhooks: { group: 'Partners', writes: 'admin', isOfAllHaulers: true },
  holds: { group: 'Keeping' },
  retention: { group: 'Keeping', writes: 'admin', isOfAllHaulers: true },
  sandbox: { group: 'Setup', isOfBothSides: true, isPartners: true, isOfAllHaulers: true },
  sessions: { group: 'Setup', isOfBothSides: true, isOfAllHaulers: true, needs: 'admin', writes: 'admin' },
  actions: { group: 'Setup', isOfBothSides: true, isOfAllHaulers: true },
};

/** For the key of a connection: how the platform reads its partner. */
const CONNECTION_PAGES: Pages = {
  '': { content: 'ownHome' },
  exchanges: {},
  sync: { of: 'site' },
  recordings: { content: 'ownRecordings', of: 'vision' },
};

type NamedPage = Page & { readonly path: ConsolePage };

const named = (pages: Pages): NamedPage[] =>
  Object.entries(pages).map(([path, page]) => ({ ...page, path: path as ConsolePage }));

function pagesOf({
  kind,
  sides,
  connectionId,
  connectionInterface,
  role = 'viewer',
  haulers,
}: Session): readonly NamedPage[] {
  if (typeof connectionId === 'string') {
    return named(CONNECTION_PAGES).filter(({ of }) => of === undefined || of === connectionInterface);
  }
  return named(PAGES).filter(
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

function NoPage() {
  const session = useContext(SessionContext);
  const { page: address } = useAddress();
  const page = named(PAGES).find(({ path }) => path === address);
  return (
    <Empty
      title={page === undefined ? 'There is no page at this address.' : `You may not open ${CONSOLE_PAGES[page.path]}.`}
    >
      {page === undefined ? 'It may be mistyped.' : refusalOf(page, session)}{' '}
      <a href="/console/">Go to the first page</a>, or choose one from the list.
    </Empty>
  );
}

/** Why a page of the console is not open to a session. */
function refusalOf({ path, needs = 'viewer' }: NamedPage, session: Session): string {
  const { kind, role = 'viewer', haulers, sides } = session;
  const title = CONSOLE_PAGES[path];
  if (kind !== 'partner' && !includesRole(role, needs)) {
    return `${title} needs the role ${needs}; this session has the role ${role}.`;
  }
  if (haulers !== undefined) return `${title} concerns all haulers; this session is limited to some of them.`;
  return kind === 'partner' || sides.includes('platform')
    ? 'The key of a partner does not open it.'
    : 'This service has the partner side alone (SIDES).';
}

function Content({ page: { path, content }, query }: PageProps & { page: NamedPage }) {
  if (content !== undefined) return <LazyPage name={content} query={query} />;
  return path === '' ? <HomePage query={query} /> : <LazyPage name={path} query={query} />;
}

/** The number of problems, as Home lists them: read again soon on Home itself, and seldom elsewhere. */
function useProblems(isOpen: boolean, isHome: boolean): ComponentChildren {
  const { data, error } = useLoad(isOpen ? '/attention' : undefined, {}, isHome ? 10_000 : 60_000);
  const total = data?.problems ?? 0;
  if (error === undefined && total === 0) return null;
  const [shown, said] =
    error === undefined
      ? [formatCount(total), total === 1 ? 'problem' : 'problems']
      : ['?', 'number of problems not known'];
  // The colour only repeats what a screen reader says.
  return (
    <span class={`count ${error === undefined ? '' : 'unknown'}`} title={`${shown} ${said}`}>
      {shown}
      <span class="hidden"> {said}</span>
    </span>
  );
}

interface NavigationProps {
  readonly pages: readonly NamedPage[];
  readonly known: NamedPage | undefined;
  readonly problems: ComponentChildren;
}

/** The pages by group. A phone shows them on demand. */
function Navigation({ pages, known, problems }: NavigationProps) {
  const groups = [...new Set(pages.map(({ group }) => group))];
  return groups.map((group) => (
    <div key={group} class="group">
      {group !== undefined && <p id={`group-${group}`}>{group}</p>}
      <ul aria-labelledby={group && `group-${group}`}>
        {pages
          .filter((page) => page.group === group)
          .map((page) => (
            <li key={page.path}>
              <a
                href={`/console/${page.path}`}
                aria-current={page === known ? 'page' : undefined}
                aria-describedby={page.path === '' ? 'problems' : undefined}
              >
                {CONSOLE_PAGES[page.path]}
              </a>
              {page.path === '' && <span id="problems">{problems}</span>}
            </li>
          ))}
      </ul>
    </div>
  ));
}

function Layout({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const { page: path, query } = useAddress();
  const pages = pagesOf(session);
  const known = pages.find((page) => page.path === path) ?? (path === '' ? pages[0] : undefined);
  const title = known === undefined ? 'No such page' : CONSOLE_PAGES[known.path];
  const problems = useProblems(pages[0]?.path === '', path === '');
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    const timer = setTimeout(() => void loadPages().catch(reportError), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · haulbridge console`;
    // A screen reader continues at the new page.
    if (shown.current !== path) main.current?.focus();
    shown.current = path;
  }, [path, title]);
  return (
    <div class={`layout ${isMenuOpen ? 'open' : ''}`}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <button type="button" class="menu" aria-expanded={isMenuOpen} onClick={() => setMenuOpen(!isMenuOpen)}>
          Menu
        </button>
        <a class="brand" href="/console/">
          haulbridge {problems}
        </a>
        {session.kind !== 'partner' && <SearchField />}
        <Who session={session} />
        <a href="/docs" target="_blank">
          API documents
        </a>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <nav aria-label="Pages" onClick={() => setMenuOpen(false)}>
        <Navigation pages={pages} known={known} problems={problems} />
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <p id="said" class="hidden" role="status" />
        <SandboxBanner />
        <h1>{title}</h1>
        <SessionContext.Provider value={known?.writes === undefined ? session : { ...session, writes: known.writes }}>
          <HaulersProvider>
            {known === undefined ? <NoPage /> : <Content key={path} page={known} query={query} />}
          </HaulersProvider>
        </SessionContext.Provider>
      </main>
    </div>
  );
}

const root = document.getElementById('console');
if (root !== null) {
  copyWholeTimes();
  keepFocus();
  render(<App />, root);
}
