import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import type { KeyDescription } from '../../contracts/partner/partner.api.js';
import { linkTo } from '../client/address.js';
import { useLoad, useNow } from '../client/load.js';
import { type Check, Checks } from '../parts/attention.js';
import { Loadable, ResponseBadge, RunBadge } from '../parts/states.js';
import { Facts, Id, Time } from '../parts/values.js';
import { DAY_MS } from '../parts/zone.rules.js';
import { ConnectionState } from './connection-state.js';
import { newestFailures } from './home.rules.js';
import { RetryRecording } from './retries.js';

const LIVE_MS = 5_000;
const NEWEST = { pageSize: 5 };

/** How the platform fares with a partner, for the key of its connection. */
export function ConnectionHomePage() {
  const me = useLoad('/me', {}, LIVE_MS);
  return (
    <Loadable of={me}>
      {(key) =>
        key.connection === undefined ? (
          <p class="notice">The connection was deleted.</p>
        ) : (
          <>
            <StateCard caller={key} connection={key.connection} />
            {key.connection.interface === 'site' ? <SiteChecks /> : <VisionChecks />}
          </>
        )
      }
    </Loadable>
  );
}

function StateCard({ caller, connection }: { caller: KeyDescription; connection: Connection }) {
  const isSite = connection.interface === 'site';
  return (
    <section class="card" aria-label="Connection">
      <h2>How the platform reads your {isSite ? 'Site' : 'Vision'} interface</h2>
      <Facts
        of={{
          State: <ConnectionState connection={connection} />,
          Address: <code>{connection.baseUrl}</code>,
          Customer: connection.customerId !== null && connection.customerId,
          [isSite ? 'Last synchronised' : 'Lists last read']:
            caller.lastSynchronisation == null ? 'never' : <Time value={caller.lastSynchronisation} />,
          'Next run': isSite && <Time value={connection.nextRunAt} />,
          Interval: `${connection.intervalSeconds} s`,
          'Key expires': caller.expiresAt === null ? 'never' : <Time value={caller.expiresAt} />,
          Hauler: <Id value={connection.haulerId} />,
          Connection: <Id value={connection.id} />,
        }}
      />
    </section>
  );
}

/** The calls of the last day that failed, newest first. */
function useFailedCalls(): Check {
  const dayAgo = new Date(Math.floor(useNow(60_000) / 600_000) * 600_000 - DAY_MS).toISOString();
  const query = { from: dayAgo, ...NEWEST };
  const refused = useLoad('/exchanges', { ...query, status: '4xx' }, LIVE_MS);
  const failed = useLoad('/exchanges', { ...query, status: '5xx' }, LIVE_MS);
  const unanswered = useLoad('/exchanges', { ...query, status: 'none' }, LIVE_MS);
  // An answer with 200 may be cut off, or no JSON.
  const unreadable = useLoad('/exchanges', { from: dayAgo, status: '2xx', pageSize: 50 }, LIVE_MS);
  const lists = [refused, failed, unanswered, unreadable];
  const error = lists.find((list) => list.error !== undefined);
  const calls = newestFailures(lists.flatMap(({ data }) => data?.data ?? []));
  return {
    title: 'Calls that failed, last day',
    none: 'No call of the last day was refused or unanswered, and the last 50 answers could be read',
    of: error ?? lists.find(({ data }) => data === undefined) ?? refused,
    isMore: [refused, failed, unanswered].some(({ data }) => data !== undefined && data.next !== null),
    items: calls.map((call) => <CallItem key={call.id} call={call} />),
  };
}

function CallItem({ call }: { call: Exchange }) {
  const { data } = useLoad(`/exchanges/${call.id}`);
  return (
    <li>
      <a href={linkTo('exchanges', { id: call.id })}>
        {call.method} {call.route ?? call.path.split('?')[0]}
      </a>{' '}
      <ResponseBadge exchange={call} /> <Time value={call.at} />
      {data !== undefined && <div class="hint">{data.explanation}</div>}
    </li>
  );
}

function SiteChecks() {
  const calls = useFailedCalls();
  const latest = useLoad('/sync-runs', { latest: 'true', pageSize: 1 }, LIVE_MS);
  const run = latest.data?.data.find(({ finishedAt }) => finishedAt !== null);
  const records = useLoad(run === undefined ? undefined : `/sync-runs/${run.id}/quarantine`, NEWEST, LIVE_MS);
  const needsLook = run !== undefined && run.status !== 'succeeded';
  const checks: readonly Check[] = [
    {
      title: 'The last synchronisation',
      none: run === undefined ? 'No synchronisation has ended yet' : 'The last synchronisation succeeded',
      of: latest,
      items: needsLook ? [<RunItem key={run.id} run={run} />] : [],
    },
    {
      title: 'Records in quarantine',
      none: 'The last synchronisation stored every record as sent',
      of: run === undefined ? latest : records,
      count: records.data?.pagination.totalItems,
      items: records.data?.data.map(({ path, reason, ruleId }) => (
        <li key={path + reason}>
          <a href={linkTo('sync', { run: run?.id })}>
            <code>{path}</code>
          </a>{' '}
          {withoutPath(path, reason)} {ruleId !== undefined && <code class="muted">{ruleId}</code>}
        </li>
      )),
    },
    calls,
  ];
  return <Checks checks={checks} />;
}

/** A reason that begins with the path of the record, which is shown beside it. */
const withoutPath = (path: string, reason: string): string =>
  reason.startsWith(`${path} `) ? reason.slice(path.length + 1) : reason;

function RunItem({ run }: { run: SyncRun }) {
  return (
    <li>
      <a href={linkTo('sync', { run: run.id })}>
        <Time value={run.finishedAt} />
      </a>{' '}
      <RunBadge run={run} /> {run.error ?? (run.status === 'held' && 'Removals wait for an admin of the platform.')}
    </li>
  );
}

function VisionChecks() {
  const calls = useFailedCalls();
  const windows = useLoad('/unread-windows', NEWEST, LIVE_MS);
  const subscriptions = useLoad('/video-subscriptions', { pageSize: 100 }, LIVE_MS);
  const findings = useLoad('/findings', NEWEST, LIVE_MS);
  const failed = useLoad('/recordings', { ...NEWEST, status: 'failed' }, LIVE_MS);
  const expired = useLoad('/recordings', { ...NEWEST, status: 'expired' }, LIVE_MS);
  const recordings = (title: string, none: string, list: typeof failed): Check => ({
    title,
    none,
    of: list,
    count: list.data?.pagination.totalItems,
    items: list.data?.data.map((each) => <RecordingItem key={each.id} recording={each} />),
  });
  const checks: readonly Check[] = [
    {
      title: 'Trucks whose last list was not read',
      none: 'The last list of each truck was read',
      of: subscriptions,
      items: subscriptions.data?.data
        .filter(({ lastError }) => lastError !== undefined)
        .map(({ id, truckId, cameraId, watermark, lastError }) => (
          <li key={id}>
            {truckId}
            {cameraId !== undefined && `, ${cameraId}`}: read until <Time value={watermark} />. {lastError}
          </li>
        )),
    },
    {
      title: 'Times that were not read',
      none: 'No time is left unread',
      of: windows,
      count: windows.data?.pagination.totalItems,
      items: windows.data?.data.map(({ subscriptionId, truckId, startTime, endTime, reason, nextAttemptAt }) => (
        <li key={subscriptionId + startTime}>
          {truckId}: <Time value={startTime} /> to <Time value={endTime} />. {reason}{' '}
          <span class="hint">
            {nextAttemptAt === null ? 'It is not read again.' : 'Next attempt: '}
            {nextAttemptAt !== null && <Time value={nextAttemptAt} />}
          </span>
        </li>
      )),
    },
    {
      title: 'Errors in your lists',
      none: 'No error was found in your lists',
      of: findings,
      count: findings.data?.pagination.totalItems,
      items: findings.data?.data.map(({ path, reason, seen, lastSeenAt }) => (
        <li key={path + reason + lastSeenAt}>
          <code>{path}</code> {withoutPath(path, reason)}{' '}
          <span class="hint">
            seen {seen === 1 ? 'once' : `${seen} times`}, last <Time value={lastSeenAt} />
          </span>
        </li>
      )),
    },
    recordings('Recordings that failed', 'No recording failed', failed),
    recordings('Recordings that expired', 'No recording expired before it was fetched', expired),
    calls,
  ];
  return <Checks checks={checks} />;
}

function RecordingItem({ recording }: { recording: StoredRecording }) {
  const { truckId, cameraId, startTime, reason, status } = recording;
  return (
    <li>
      <a href={linkTo('recordings', { truckId, status })}>
        {truckId}, {cameraId}
      </a>{' '}
      <Time value={startTime} /> {reason}
      <RetryRecording recording={recording} />
    </li>
  );
}
