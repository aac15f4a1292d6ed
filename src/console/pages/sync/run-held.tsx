import { useState } from 'preact/hooks';
import type { SyncRun } from '../../../contracts/admin/sync-run.dto.js';
import type { SyncTreeRecord, SyncTreeSite, TicketUse } from '../../../contracts/admin/sync-tree.dto.js';
import { SYNC_KINDS } from '../../../contracts/admin/sync.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useSession } from '../../client/session.js';
import { ActionButton } from '../../parts/forms.js';
import { ListPage } from '../../parts/listing.js';
import { Badge, Card } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';
import type { RunPath } from './run-changes.js';
import { countsOf } from './run.rules.js';

/** A run whose removals wait for a decision: the rule that held it, both answers, and what each means. */
export function HeldRun({ run, path, query }: PageProps & { run: SyncRun; path: RunPath }) {
  const { isPartner } = useSession();
  const guards = run.guard ?? [];
  return (
    <Card title="This run waits for a decision" label="Held removals" kind="needed">
      {guards.map(({ kind, removed, of, share }) => (
        <p key={kind}>
          The partner's answer lacks {formatCount(removed)} of {formatCount(of)} active {kind} (
          {Math.round(share * 100)} %).
        </p>
      ))}
      {guards.length === 0 && <p>The partner's answer lacks {heldOf(run)} that are active here.</p>}
      {isPartner ? (
        <p class="hint">
          Everything else is applied. An admin of the platform confirms the removals, or an answer that has the records
          again clears them.
        </p>
      ) : (
        <>
          <Decision run={run} path={path} />
          <Tree path={path} query={query} />
        </>
      )}
    </Card>
  );
}

const heldOf = ({ counts }: SyncRun): string => countsOf(SYNC_KINDS.map((kind) => [counts[kind].held, kind]));

function Decision({ run, path }: { run: SyncRun; path: RunPath }) {
  const [note, setNote] = useState('');
  return (
    <>
      <p class="hint">
        Everything else is applied. Removed records become inactive. If you keep the stored data, the next answer
        without it is held again.
      </p>
      <label class="field narrow">
        <span>Note, if you keep the stored data</span>
        <input maxLength={1_000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <p class="actions">
        <ActionButton label={`Remove ${heldOf(run)}`} kind="danger" work={() => send('POST', `${path}/confirm`)} />
        <ActionButton
          label="Keep the stored data"
          work={() => send('POST', `${path}/reject`, note.trim() === '' ? {} : { note: note.trim() })}
        />
      </p>
    </>
  );
}

/** The sites of which the run changed something: first those that would lose most. */
const Tree = ({ path, query }: PageProps & { path: RunPath }) => (
  <ListPage
    path={`${path}/tree`}
    query={query}
    name="tree"
    view={(sites) => (
      <ul class="tree" aria-label="Sites">
        {sites.map((site) => (
          <Site key={site.externalId ?? ''} site={site} />
        ))}
      </ul>
    )}
    empty={null}
  />
);

type Change = SyncTreeRecord['change'];

const WORDS: Readonly<Record<Change, string>> = {
  held: 'would be removed',
  deactivated: 'removed',
  created: 'added',
  updated: 'changed',
  restored: 'active again',
};

function Site({ site }: { site: SyncTreeSite }) {
  const { externalId, name, change, changes, tickets, records, total } = site;
  return (
    <li>
      <Name change={change} name={name ?? (externalId === null ? 'Without a known site' : 'Unknown site')} />{' '}
      <Outcome change={change} changes={changes} /> {externalId !== null && <code class="muted">{externalId}</code>}{' '}
      <Tickets of={site} use={tickets} />
      <ul>
        {records.map((record) => (
          <li key={record.kind + record.externalId}>
            <Name change={record.change} name={record.name} />{' '}
            <span class="hint">{record.kind === 'kiosks' ? 'kiosk' : 'material'}</span> <Outcome {...record} />{' '}
            <code class="muted">{record.externalId}</code>{' '}
            {record.tickets !== undefined && <Tickets of={site} use={record.tickets} material={record.name} />}
          </li>
        ))}
        {total > records.length && (
          <li class="hint">and {formatCount(total - records.length)} more, which are listed under Changes</li>
        )}
      </ul>
    </li>
  );
}

function Name({ change, name }: { change: Change | null; name: string }) {
  if (change === 'held' || change === 'deactivated') return <del>{name}</del>;
  if (change === 'created' || change === 'restored') return <ins>{name}</ins>;
  return <strong>{name}</strong>;
}

function Outcome({ change, changes }: { change: Change | null; changes: readonly string[] }) {
  if (change === null) return null;
  return (
    <>
      <Badge value={WORDS[change]} tone={change === 'held' || change === 'deactivated' ? 'bad' : 'info'} />
      {change === 'updated' && <span class="hint"> {changes.join(', ')}</span>}
    </>
  );
}

/** The disposal tickets of the last month that use a record, with the list of them. */
function Tickets({ of, use, material }: { of: SyncTreeSite; use: TicketUse; material?: string }) {
  const { externalId, haulerId, ticketsFrom } = of;
  if (externalId === null || use.count === 0) return <span class="hint">no ticket in the last month</span>;
  return (
    <a href={linkTo('tickets', { haulerId, siteId: externalId, from: ticketsFrom, material })}>
      {formatCount(use.count)}
      {use.more && '+'} {use.count === 1 ? 'ticket' : 'tickets'} in the last month
    </a>
  );
}
