import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { Overview, RefusedPushes } from '../../contracts/admin/overview.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo } from '../client/address.js';
import { type Loaded, useLoad } from '../client/load.js';
import { useNow } from '../client/now.js';
import { Badge, ErrorBox, Loading } from '../parts/states.js';
import { formatCount, Time, useHaulerName } from '../parts/values.js';
import { DayCharts } from './day-charts.js';
import { atRisk, keysToRenew, withoutFailedRuns } from './home.rules.js';

const LIVE_MS = { everyMs: 5_000 };
const DAY_MS = 86_400_000;
const SHOWN = 5;

/** What needs attention, each item with the link to its page; below it the day in pictures. */
export function HomePage() {
  const now = useNow(60_000);
  const dayAgo = new Date(Math.floor(now / 600_000) * 600_000 - DAY_MS).toISOString();
  const latest = { latest: 'true', pageSize: 100 };
  const held = useLoad<List<SyncRun>>('/sync-runs', { ...latest, status: 'held' }, LIVE_MS);
  const failed = useLoad<List<SyncRun>>('/sync-runs', { ...latest, status: 'failed' }, LIVE_MS);
  const failing = useLoad<List<Connection>>('/connections', { failing: 'true', pageSize: 100 }, LIVE_MS);
  const waiting = useLoad<List<StoredRecording>>('/recordings', { status: 'available', pageSize: 100 }, LIVE_MS);
  const expired = useLoad<List<StoredRecording>>('/recordings', { status: 'expired', from: dayAgo }, LIVE_MS);
  const keys = useLoad<List<ApiKey>>('/api-keys', { pageSize: 100 }, LIVE_MS);
  const overview = useLoad<Overview>('/overview', {}, LIVE_MS);
  const runs = failed.data?.data ?? [];
  const checks: readonly Check[] = [
    check('Held synchronisations', held, held.data?.data, 'No run waits for a decision', (run) => (
      <RunItem key={run.id} run={run} />
    )),
    check('Failing synchronisations', failed, runs, 'The last run of each connection succeeded', (run) => (
      <RunItem key={run.id} run={run} />
    )),
    check(
      'Connections with an error',
      failing,
      withoutFailedRuns(failing.data?.data ?? [], runs),
      'Every partner accepted the last call',
      (connection) => <ConnectionItem key={connection.id} connection={connection} />,
    ),
    check(
      'Downloads at risk',
      waiting,
      atRisk(waiting.data?.data ?? [], now),
      'No link of a waiting download expires within an hour',
      (recording) => <RecordingItem key={recording.id} recording={recording} />,
    ),
    check(
      'Expired before they were stored, last day',
      expired,
      expired.data?.data,
      'No recording of the last day expired before it was stored',
      (recording) => <RecordingItem key={recording.id} recording={recording} />,
    ),
    check(
      'Refused pushes by reason, last day',
      overview,
      overview.data?.refusedPushes,
      'No push was refused in the last day',
      (pushes) => <RefusedItem key={pushes.lastExchangeId} pushes={pushes} from={overview.data?.from} />,
    ),
    check(
      'Keys about to expire',
      keys,
      keysToRenew(keys.data?.data ?? [], now),
      'No key expires within 14 days',
      (key) => <KeyItem key={key.id} apiKey={key} />,
    ),
  ];
  const isLoading = checks.some(({ isLoaded, error }) => !isLoaded && error === null);
  const clear = checks.filter(({ isLoaded, items }) => isLoaded && items.length === 0);
  return (
    <>
      {isLoading && <Loading />}
      <div class="attention">
        {checks
          .filter(({ items, error }) => items.length > 0 || error !== null)
          .map((each) => (
            <Attention key={each.title} {...each} />
          ))}
      </div>
      {clear.length > 0 && !isLoading && (
        <section class="card clear" aria-label="In order">
          <h2>{clear.length === checks.length ? 'Nothing needs attention' : 'In order'}</h2>
          <ul>
            {clear.map(({ title, none }) => (
              <li key={title}>{none}</li>
            ))}
          </ul>
        </section>
      )}
      {overview.data !== undefined && <DayCharts overview={overview.data} />}
    </>
  );
}

interface Check {
  readonly title: string;
  readonly isLoaded: boolean;
  readonly error: ComponentChildren;
  readonly items: readonly ComponentChildren[];
  readonly none: string;
}

function check<T>(
  title: string,
  { data, error, reload }: Loaded<unknown>,
  items: readonly T[] | undefined,
  none: string,
  show: (item: T) => ComponentChildren,
): Check {
  const failure = error === undefined ? null : <ErrorBox error={error} onRetry={reload} />;
  return { title, isLoaded: data !== undefined, error: failure, items: (items ?? []).map(show), none };
}

function Attention({ title, error, items }: Check) {
  return (
    <section class={`card ${items.length > 0 ? 'needed' : ''}`} aria-label={title}>
      <h2>
        {title} {items.length > 0 && <Badge value={formatCount(items.length)} tone="bad" />}
      </h2>
      {error}
      <ul>{items.slice(0, SHOWN)}</ul>
      {items.length > SHOWN && <p class="hint">and {formatCount(items.length - SHOWN)} more</p>}
    </section>
  );
}

function RunItem({ run }: { run: SyncRun }) {
  const haulerName = useHaulerName();
  const { data: connection } = useLoad<Connection>(`/connections/${run.connectionId}`);
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

function RefusedItem({ pushes, from }: { pushes: RefusedPushes; from: string | undefined }) {
  const { interface: name, status, errorCode, reason, count, lastExchangeId } = pushes;
  return (
    <li>
      <a href={linkTo('exchanges', { direction: 'inbound', interface: name, status, errorCode, from })}>
        {status} {errorCode}
      </a>
      {reason !== undefined && `: ${reason}`} <span class="hint">{name}</span>{' '}
      <Badge value={formatCount(count)} tone="warn" />{' '}
      <a class="hint" href={linkTo('exchanges', { id: lastExchangeId })}>
        the newest
      </a>
    </li>
  );
}

function KeyItem({ apiKey: { prefix, name, expiresAt, haulerId } }: { apiKey: ApiKey }) {
  return (
    <li>
      <a href={linkTo('keys', { haulerId: haulerId ?? undefined })}>
        {prefix}… {name}
      </a>{' '}
      expires <Time value={expiresAt} />
    </li>
  );
}
