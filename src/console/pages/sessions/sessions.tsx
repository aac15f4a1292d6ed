import type { AdminSession } from '../../../contracts/admin/sessions.routes.js';
import type { PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { ActionButton } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';

const LIVE_MS = 10_000;

const KINDS: Readonly<Record<AdminSession['kind'], string>> = { person: 'Person', token: 'Token', partner: 'Partner' };

/** Who is signed in to the console. */
export function SessionsPage({ query }: PageProps) {
  return (
    <ListPage
      path="/sessions"
      query={query}
      everyMs={LIVE_MS}
      label="Sessions"
      columns={COLUMNS}
      empty={<Empty title="Nobody is signed in." />}
    />
  );
}

const COLUMNS: readonly Column<AdminSession>[] = [
  {
    title: 'Who',
    cell: ({ kind, name, email }) => (
      <>
        {name} <span class="hint">{email ?? KINDS[kind]}</span>
      </>
    ),
  },
  { title: 'Role', cell: ({ role }) => role ?? 'partner' },
  { title: 'Haulers', cell: ({ haulers }) => (haulers === undefined ? 'all' : String(haulers.length)) },
  { title: 'Since', cell: ({ createdAt }) => <Time value={createdAt} /> },
  { title: 'Until', cell: ({ expiresAt }) => <Time value={expiresAt} /> },
  {
    title: 'End',
    cell: ({ id, isCurrent }) =>
      isCurrent ? (
        <span class="muted">this session</span>
      ) : (
        <ActionButton
          label="End session"
          kind="danger"
          confirm="The next call of this session is refused."
          work={() => send('DELETE', `/sessions/${id}`)}
        />
      ),
  },
];
