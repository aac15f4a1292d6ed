import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { Exchange, ExchangeList } from '../../contracts/admin/exchange.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo } from '../client/address.js';
import { type Loaded, useLoad } from '../client/load.js';
import { useNow } from '../client/now.js';
import { Badge, ErrorBox, Loading } from '../parts/states.js';
import { formatCount, Time, useHaulerName } from '../parts/values.js';
import { isAtRisk, keysToRenew, newestRuns, refusalsByReason } from './home.rules.js';

const LIVE_MS = { everyMs: 10_000 };
const DAY_MS = 86_400_000;
const SHOWN = 5;

/** What needs attention. Each item leads to its page. */
export function HomePage() {
  const now = useNow(60_000);
  const dayAgo = new Date(Math.floor(now / 600_000) * 600_000 - DAY_MS).toISOString();
  const runs = useLoad<List<SyncRun>>('/sync-runs', { pageSize: 100 }, LIVE_MS);
  const connections = useLoad<List<Connection>>('/connections', { pageSize: 100 }, LIVE_MS);
  const waiting = useLoad<List<StoredRecording>>('/recordings', { status: 'available', pageSize: 100 }, LIVE_MS);
  const expired = useLoad<List<StoredRecording>>('/recordings', { status: 'expired', from: dayAgo }, LIVE_MS);
  const keys = useLoad<List<ApiKey>>('/api-keys', { pageSize: 100 }, LIVE_MS);
  const refused = useLoad<ExchangeList>(
    '/exchanges',
    { direction: 'inbound', status: '4xx', from: dayAgo, pageSize: 100 },
    LIVE_MS,
  );
  const newest = newestRuns(runs.data?.data ?? []);
  const reasons = refusalsByReason((refused.data?.data ?? []).filter(isPush));
  return (
    <div class="attention">
      <Attention
        title="Held synchronisations"
        source={runs}
        items={newest.filter(({ status }) => status === 'held')}
        none="No run waits for a decision."
      >
        {(run) => <RunItem key={run.id} run={run} connections={connections.data?.data ?? []} />}
      </Attention>
      <Attention
        title="Failing synchronisations"
        source={runs}
        items={newest.filter(({ status }) => status === 'failed')}
        none="The last run of each connection succeeded."
      >
        {(run) => <RunItem key={run.id} run={run} connections={connections.data?.data ?? []} />}
      </Attention>
      <Attention
        title="Connections with an error"
        source={connections}
        items={(connections.data?.data ?? []).filter(({ lastError }) => lastError !== null)}
        none="Every partner answered the last call."
      >
        {(connection) => <ConnectionItem key={connection.id} connection={connection} />}
      </Attention>
      <Attention
        title="Downloads at risk"
        source={waiting}
        items={(waiting.data?.data ?? []).filter((each) => isAtRisk(each, now))}
        none="No link of a waiting download expires within an hour."
      >
        {(recording) => <RecordingItem key={recording.id} recording={recording} />}
      </Attention>
      <Attention
        title="Expired before they were stored, last day"
        source={expired}
        items={expired.data?.data ?? []}
        none="Nothing expired."
      >
        {(recording) => <RecordingItem key={recording.id} recording={recording} />}
      </Attention>
      <Attention
        title="Refused pushes by reason, last day"
        source={refused}
        items={reasons}
        none="No push was refused."
      >
        {({ reason, count, errorCode }) => (
          <li key={reason}>
            <a href={linkTo('exchanges', { direction: 'inbound', status: '4xx', errorCode, from: dayAgo })}>{reason}</a>{' '}
            <Badge
              value={`${formatCount(count)}${refused.data?.next === null ? '' : ' of the last 100'}`}
              tone="warn"
            />
          </li>
        )}
      </Attention>
      <Attention
        title="Keys about to expire"
        source={keys}
        items={keysToRenew(keys.data?.data ?? [], now)}
        none="No key expires within 14 days."
      >
        {({ id, prefix, name, expiresAt }) => (
          <li key={id}>
            <a href={linkTo('keys')}>
              {prefix}… {name}
            </a>{' '}
            expires <Time value={expiresAt} />
          </li>
        )}
      </Attention>
    </div>
  );
}

const isPush = ({ interface: kind }: Exchange): boolean => kind === 'scale' || kind === 'account';

interface AttentionProps<T> {
  readonly title: string;
  readonly source: Loaded<unknown>;
  readonly items: readonly T[];
  readonly none: string;
  readonly children: (item: T) => ComponentChildren;
}

function Attention<T>({ title, source, items, none, children }: AttentionProps<T>) {
  const { data, error, reload } = source;
  return (
    <section class={`card ${items.length > 0 ? 'needed' : ''}`} aria-label={title}>
      <h2>
        {title} {items.length > 0 && <Badge value={formatCount(items.length)} tone="bad" />}
      </h2>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data !== undefined && items.length === 0 && <p class="hint">{none}</p>}
      <ul>{items.slice(0, SHOWN).map(children)}</ul>
      {items.length > SHOWN && <p class="hint">and {formatCount(items.length - SHOWN)} more</p>}
    </section>
  );
}

function RunItem({ run, connections }: { run: SyncRun; connections: readonly Connection[] }) {
  const haulerName = useHaulerName();
  const connection = connections.find(({ id }) => id === run.connectionId);
  const held = run.counts.sites.held + run.counts.kiosks.held + run.counts.materials.held;
  return (
    <li>
      <a href={linkTo('sync', { run: run.id, connectionId: run.connectionId })}>
        {connection === undefined ? run.connectionId : haulerName(connection.haulerId)}
      </a>{' '}
      {run.status === 'held' ? `would remove ${formatCount(held)} records` : run.error}
    </li>
  );
}

function ConnectionItem({ connection }: { connection: Connection }) {
  const haulerName = useHaulerName();
  return (
    <li>
      <a href={linkTo('connections', { id: connection.id })}>
        {haulerName(connection.haulerId)}, {connection.interface}
      </a>{' '}
      {connection.lastError}
    </li>
  );
}

function RecordingItem({ recording }: { recording: StoredRecording }) {
  return (
    <li>
      <a href={linkTo('recordings', { play: recording.id })}>
        {recording.truckId}, {recording.cameraId}
      </a>{' '}
      <Time value={recording.startTime} /> {recording.reason}
    </li>
  );
}
