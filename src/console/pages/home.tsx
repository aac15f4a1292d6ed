import type { ApiKey } from '../../contracts/admin/access.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { RefusedPushes } from '../../contracts/admin/overview.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo } from '../client/address.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad, useNow } from '../client/load.js';
import { useSession } from '../client/session.js';
import { type Check, Checks } from '../parts/attention.js';
import { Badge } from '../parts/states.js';
import { formatCount, Time } from '../parts/values.js';
import { DAY_MS } from '../parts/zone.rules.js';
import { DayCharts } from './day-charts.js';
import { atRisk, keysToRenew, withoutFailedRuns } from './home.rules.js';

const LIVE_MS = 5_000;

/** The items that need attention, each with a link to its page; below them the last day in charts. */
export function HomePage() {
  const now = useNow(60_000);
  const { hasPlatform } = useSession();
  const dayAgo = new Date(Math.floor(now / 600_000) * 600_000 - DAY_MS).toISOString();
  const latest = { latest: 'true', pageSize: 100 };
  // Calls that exist only on the platform side.
  const platform = <const Path extends string>(path: Path) => (hasPlatform ? path : undefined);
  const held = useLoad(platform('/sync-runs'), { ...latest, status: 'held' }, LIVE_MS);
  const failed = useLoad(platform('/sync-runs'), { ...latest, status: 'failed' }, LIVE_MS);
  const partial = useLoad(platform('/sync-runs'), { ...latest, status: 'succeeded', quarantined: 'true' }, LIVE_MS);
  const failing = useLoad(platform('/connections'), { failing: 'true', pageSize: 100 }, LIVE_MS);
  const available = { status: 'available', pageSize: 100 };
  const waiting = useLoad(platform('/recordings'), available, LIVE_MS);
  const expired = useLoad(platform('/recordings'), { status: 'expired', from: dayAgo }, LIVE_MS);
  const overview = useLoad(platform('/overview'), {}, LIVE_MS);
  const keys = useLoad('/api-keys', { pageSize: 100 }, LIVE_MS);
  const runs = failed.data?.data ?? [];
  const platformChecks: readonly Check[] = [
    {
      title: 'Held synchronisations',
      none: 'No run waits for a decision',
      of: held,
      items: held.data?.data.map((run) => <RunItem key={run.id} run={run} />),
    },
    {
      title: 'Failing synchronisations',
      none: 'The last run of each connection succeeded',
      of: failed,
      items: runs.map((run) => <RunItem key={run.id} run={run} />),
    },
    {
      title: 'Synchronisations with quarantined records',
      none: 'The last run of each connection stored every record',
      of: partial,
      items: partial.data?.data.map((run) => <RunItem key={run.id} run={run} />),
    },
    {
      title: 'Connections with an error',
      none: 'Every partner accepted the last call',
      of: failing,
      items: withoutFailedRuns(failing.data?.data ?? [], runs).map((each) => (
        <ConnectionItem key={each.id} connection={each} />
      )),
    },
    {
      title: 'Downloads at risk',
      none: 'No link of a waiting download expires within an hour',
      of: waiting,
      items: atRisk(waiting.data?.data ?? [], now).map((each) => <RecordingItem key={each.id} recording={each} />),
    },
    {
      title: 'Expired before they were stored, last day',
      none: 'No recording of the last day expired before it was stored',
      of: expired,
      items: expired.data?.data.map((each) => <RecordingItem key={each.id} recording={each} />),
    },
    {
      title: 'Refused pushes by reason, last day',
      none: 'No push was refused in the last day',
      of: overview,
      items: overview.data?.refusedPushes.map((each) => (
        <RefusedItem key={each.lastExchangeId} pushes={each} from={overview.data?.from} />
      )),
    },
  ];
  const keyCheck: Check = {
    title: 'Keys about to expire',
    none: 'No key expires within 14 days',
    of: keys,
    items: keysToRenew(keys.data?.data ?? [], now).map((key) => <KeyItem key={key.id} apiKey={key} />),
  };
  const checks = hasPlatform ? [...platformChecks, keyCheck] : [keyCheck];
  return (
    <>
      <Checks checks={checks} />
      {overview.data !== undefined && <DayCharts overview={overview.data} />}
    </>
  );
}

function RunItem({ run }: { run: SyncRun }) {
  const haulerName = useHaulerName();
  const { data: connection } = useLoad(`/connections/${run.connectionId}`);
  const held = run.counts.sites.held + run.counts.kiosks.held + run.counts.materials.held;
  return (
    <li>
      <a href={linkTo('sync', { run: run.id, connectionId: run.connectionId })}>
        {connection === undefined ? run.connectionId : haulerName(connection.haulerId)}
      </a>{' '}
      {run.status === 'held' ? `would remove ${formatCount(held)} records` : (run.error ?? run.attention)}
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
