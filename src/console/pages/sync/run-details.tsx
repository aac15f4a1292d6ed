import type { SyncCounts, SyncRun } from '../../../contracts/admin/sync-run.dto.js';
import { SYNC_KINDS } from '../../../contracts/admin/sync.values.js';
import { linkTo } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { Card, Detail, DetailHead, RunBadge } from '../../parts/states.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';
import { RunChanges } from './run-changes.js';
import { HeldRun } from './run-held.js';
import { Refusals } from './run-refusals.js';

const LIVE_MS = 2_000;
/** One run: its counts, its changes, and the records that it refused or flagged. */
export function RunDetails({ id, query }: { id: string; query: URLSearchParams }) {
  const path = `/sync-runs/${encodeURIComponent(id)}` as const;
  const back = linkTo('sync', { connectionId: query.get('connectionId') ?? undefined });
  return (
    <Detail path={path} everyMs={LIVE_MS} back={back} list="All runs">
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
  Object.entries(counts)
    .filter(([name, count]) => count > 0 || name === 'received')
    .map(([name, count]) => `${formatCount(count)} ${name}`)
    .join(', ');
