import { useState } from 'preact/hooks';
import type { ApiKey, KeyRemoval } from '../../../contracts/admin/api-key.dto.js';
import { change, linkTo, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { useConnectionName, useHaulerName } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { Filters, HaulerFilter, pick } from '../../parts/filters.js';
import { ActionButton, Needing, NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Empty, keyState } from '../../parts/states.js';
import { formatCount, KeyPrefix, Time } from '../../parts/values.js';
import { IssueForm, NewKey, type NewKeyProps, RotateForm } from './key-forms.js';

export function KeysPage({ query }: PageProps) {
  const [issued, setIssued] = useState<Pick<NewKeyProps, 'issued' | 'isRotation'>>();
  const [rotated, setRotated] = useState<ApiKey>();
  const isNew = query.has('new');
  return (
    <>
      {issued !== undefined && <NewKey {...issued} onClose={() => setIssued(undefined)} />}
      <Needing isOfAllHaulers>
        {isNew ? (
          <IssueForm
            query={query}
            onIssued={(key) => {
              setIssued({ issued: key, isRotation: false });
              change({ new: undefined, interfaces: undefined });
            }}
          />
        ) : (
          <p class="actions">
            <NewLink href={linkTo('keys', { new: 1 })} label="New key" />
          </p>
        )}
      </Needing>
      {rotated !== undefined && (
        <RotateForm
          key={rotated.id}
          apiKey={rotated}
          onRotated={(key) => {
            setIssued({ issued: key, isRotation: true });
            setRotated(undefined);
            scrollTo({ top: 0 });
          }}
          onCancel={() => setRotated(undefined)}
        />
      )}
      <KeyList
        query={query}
        onRotate={(key) => {
          setRotated(key);
          scrollTo({ top: 0 });
        }}
      />
    </>
  );
}

function KeyList({ query, onRotate }: PageProps & { onRotate: (key: ApiKey) => void }) {
  const haulerName = useHaulerName();
  const nameOf = useConnectionName();
  // A customer is a hauler unless the partner has a name of its own for it.
  const customerName = (id: string) => (haulerName(id) === id ? id : `${haulerName(id)} (${id})`);
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: ({ prefix, name, interfaces, customerId, allCustomers, connectionId }) => (
        <>
          <KeyPrefix value={prefix} /> {name}
          <div class="hint">
            {interfaces.join(', ')}
            {connectionId !== null && (
              <a href={linkTo('connections', { id: connectionId })}>partner of {nameOf(connectionId)}</a>
            )}
            {allCustomers ? ', all customers' : customerId !== null && `, customer ${customerName(customerId)}`}
          </div>
        </>
      ),
    },
    {
      title: 'State',
      cell: (key) => (
        <>
          <Badge value={keyState(key, Date.now())} />
          <HandOver successor={key} />
        </>
      ),
    },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time value={lastUsedAt} />) },
    { title: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time value={expiresAt} />) },
    { title: 'Actions', cell: (key) => <KeyActions apiKey={key} onRotate={onRotate} /> },
  ];
  return (
    <>
      <Filters>
        <HaulerFilter query={query} />
      </Filters>
      <ListPage
        path="/api-keys"
        query={query}
        fixed={pick(query, 'haulerId')}
        label="API keys"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title="No key here.">Partners need a key for their first call: choose “New key”.</Empty>}
      />
    </>
  );
}

/** How far a rotation is: the new key was issued and is with its user, it was used, the old key has ended. */
function HandOver({ successor: { replacesId, activatedAt, revokedAt } }: { successor: ApiKey }) {
  const isShown = replacesId !== null && revokedAt === null;
  // The old key may stand on another page of the list.
  const { data: old } = useLoad(isShown ? `/api-keys/${replacesId}` : undefined);
  if (!isShown) return null;
  return (
    <ol class="hand-over hint" aria-label={`Rotation of ${old?.prefix ?? 'a key'}`}>
      <li class="done">issued</li>
      <li class={activatedAt === null ? '' : 'done'}>
        {activatedAt === null ? (
          'not used yet: send it'
        ) : (
          <>
            first used <Time value={activatedAt} />
          </>
        )}
      </li>
      {old !== undefined && <OldKey apiKey={old} isReplaced={activatedAt !== null} />}
    </ol>
  );
}

/** From the first use of the new key on, the old one has an end. */
function OldKey({ apiKey: { revokedAt, expiresAt }, isReplaced }: { apiKey: ApiKey; isReplaced: boolean }) {
  const end = revokedAt ?? expiresAt;
  const hasEnded = end !== null && Date.parse(end) <= Date.now();
  return (
    <li class={hasEnded ? 'done' : ''}>
      {end === null || !(hasEnded || isReplaced) ? (
        'the old key still works'
      ) : (
        <>
          the old key {hasEnded ? 'ended' : 'ends'} <Time value={end} />
        </>
      )}
    </li>
  );
}

function usesText(ending: KeyRemoval | undefined): string {
  const lastUsedAt = ending?.lastUsedAt ?? null;
  const sessions = ending?.sessions ?? 0;
  const use = lastUsedAt === null ? 'It was never used.' : `It was last used ${new Date(lastUsedAt).toLocaleString()}.`;
  return sessions === 0 ? use : `${use} It ends ${formatCount(sessions)} sessions of the console.`;
}

function KeyActions({ apiKey, onRotate }: { apiKey: ApiKey; onRotate: (key: ApiKey) => void }) {
  const { canWrite } = useSession();
  const state = keyState(apiKey, Date.now());
  if (state === 'revoked' || state === 'expired') return null;
  return (
    <span class="actions">
      <button type="button" disabled={!canWrite} onClick={() => onRotate(apiKey)}>
        Rotate this key
      </button>
      <ActionButton
        label="Revoke this key"
        kind="danger"
        confirm={async () => {
          const ending = await send('DELETE', `/api-keys/${apiKey.id}?dryRun=true`);
          return `Calls with ${apiKey.prefix}… (${apiKey.name ?? 'without a name'}) fail within 5 s. ${usesText(ending)}`;
        }}
        work={() => send('DELETE', `/api-keys/${apiKey.id}`)}
      />
    </span>
  );
}
