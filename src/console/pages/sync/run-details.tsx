import { useState } from 'preact/hooks';
import type {
  QuarantinedRecord,
  RefusedRecords,
  SyncCounts,
  SyncRun,
  SyncTreeRecord,
  SyncTreeSite,
  TicketUse,
} from '../../../contracts/admin/sync-runs.routes.js';
import { SYNC_KINDS } from '../../../contracts/admin/sync.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkToFilter } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useSession } from '../../client/session.js';
import { ActionButton } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Detail, DetailHead, Empty, RunBadge } from '../../parts/states.js';
import { Facts, formatCount, Id, Prose, Time } from '../../parts/values.js';
import { RunChanges, type RunPath } from './run-changes.js';
import { countsOf } from './run.rules.js';
import { Json } from '../../parts/json.js';
import { useHaulerName } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';

/** A run whose removals wait for a decision: the rule that held it, both answers, and what each means. */
function HeldRun({ run, path, query }: PageProps & { run: SyncRun; path: RunPath }) {
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

/** The group that the address names, as `quarantined:materials:measureUnit:isEnum`. */
const keyOf = ({ severity, kind, field, rule }: RefusedRecords): string => [severity, kind, field, rule].join(':');

function groupIn(query: URLSearchParams): Record<string, string> {
  const [severity, kind, field, rule] = query.get('refused')?.split(':') ?? [];
  if (severity === undefined || kind === undefined || field === undefined || rule === undefined) return {};
  return { severity, kind, field, rule };
}

/** What a run refused or flagged: how many by rule, and the records of all rules or of one. */
function Refusals({ run, path, query }: PageProps & { run: SyncRun; path: RunPath }) {
  const { refusals = [] } = run;
  const chosen = query.get('refused');
  return (
    <Card title="Refused and flagged records" label="Quarantine">
      <ListPage
        path={`${path}/quarantine`}
        query={query}
        name="quarantine"
        fixed={groupIn(query)}
        // All rules together are a look at them: each group lists its own.
        pageSize={refusals.length > 0 && chosen === null ? 20 : 100}
        hasCsv={refusals.length > 0}
        label="Refused and flagged records"
        columns={COLUMNS}
        keyOf={(record) => record.path + record.reason}
        empty={<Empty title={chosen === null ? 'None: every record was valid.' : 'No record breaks this rule.'} />}
      >
        {refusals.length > 0 && (
          <ul class="groups" aria-label="By rule">
            {refusals.map((group) => (
              <Group key={keyOf(group)} group={group} query={query} isChosen={chosen === keyOf(group)} />
            ))}
          </ul>
        )}
      </ListPage>
    </Card>
  );
}

/** A press on the chosen one shows the records of all rules again. */
function Group({ group, query, isChosen }: PageProps & { group: RefusedRecords; isChosen: boolean }) {
  const { severity, kind, field, sentence, cause, remedy, ruleId, example } = group;
  return (
    <li class={isChosen ? 'chosen' : ''}>
      <a
        href={linkToFilter('sync', query, { refused: isChosen ? undefined : keyOf(group) })}
        aria-current={isChosen ? 'true' : undefined}
      >
        {sentence}
      </a>{' '}
      <Badge value={severity} />
      <p class="hint">
        {kind}, <code>{field}</code>
        {ruleId !== undefined && (
          <>
            , rule <code>{ruleId}</code>
          </>
        )}
        . <Prose text={`${cause} ${remedy}`} />
      </p>
      <p class="hint">For example: {example}</p>
    </li>
  );
}

const COLUMNS: readonly Column<QuarantinedRecord>[] = [
  { title: 'State', cell: ({ severity }) => <Badge value={severity} /> },
  { title: 'Record', cell: (record) => <code>{record.path}</code> },
  {
    title: 'Reason',
    cell: ({ reason, ruleId }) => (
      <>
        {reason} {ruleId !== undefined && <code class="muted">{ruleId}</code>}
      </>
    ),
  },
  {
    title: 'As received',
    cell: ({ raw, path }) => (
      <details>
        <summary>Show</summary>
        <Json value={raw} label={`Record ${path}`} />
      </details>
    ),
  },
];

const LIVE_MS = 2_000;
/** One run: its counts, its changes, and the records that it refused or flagged. */
export function RunDetails({ id, query }: { id: string; query: URLSearchParams }) {
  const path = `/sync-runs/${encodeURIComponent(id)}` as const;
  return (
    <Detail path={path} everyMs={LIVE_MS} list="All runs">
      {(data) => (
        <>
          <RunHead run={data} />
          {data.status === 'held' && <HeldRun run={data} path={path} query={query} />}
          <Card title="Records">
            <Facts of={Object.fromEntries(SYNC_KINDS.map((kind) => [kind, countsText(data.counts[kind])]))} />
          </Card>
          <Refusals run={data} path={path} query={query} />
          <RunChanges path={path} query={query} />
        </>
      )}
    </Detail>
  );
}

function RunHead({ run }: { run: SyncRun }) {
  const haulerName = useHaulerName();
  const { isPartner } = useSession();
  const { data: connection } = useLoad(isPartner ? undefined : `/connections/${run.connectionId}`);
  const name = connection === undefined ? '…' : haulerName(connection.haulerId);
  return (
    <DetailHead
      title={isPartner ? 'Run' : `Run of ${name}`}
      label="Run"
      badge={<RunBadge run={run} />}
      facts={{ Started: <Time value={run.startedAt} />, Finished: <Time value={run.finishedAt} /> }}
    >
      {run.attention !== undefined && <p class="notice warn">{run.attention}</p>}
      {run.error !== undefined && <p class="notice bad">{run.error}</p>}
      {run.note !== undefined && <p class="notice warn">Rejected: {run.note}</p>}
      <Facts
        of={{
          Connection: !isPartner && <a href={linkTo('connections', { id: run.connectionId })}>{name}</a>,
          Exchanges: <a href={linkTo('exchanges', { reference: `syncRunId:${run.id}` })}>calls of this run</a>,
          Id: <Id value={run.id} />,
        }}
      />
    </DetailHead>
  );
}

/** Of each kind, without what there is none of. */
const countsText = (counts: SyncCounts): string =>
  Object.entries<number>({ ...counts })
    .filter(([name, count]) => count > 0 || name === 'received')
    .map(([name, count]) => `${formatCount(count)} ${name}`)
    .join(', ');
