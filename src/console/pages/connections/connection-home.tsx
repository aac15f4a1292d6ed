import type { Connection } from '../../../contracts/admin/connections.routes.js';
import type { UnreadWindow } from '../../../contracts/admin/video-subscriptions.routes.js';
import type { VisionFinding } from '../../../contracts/admin/vision-finding.dto.js';
import type { KeyDescription } from '../../../contracts/partner/partner.api.js';
import type { PageProps } from '../../client/address.js';
import { useLoad } from '../../client/load.js';
import { AttentionList } from '../../parts/attention.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { HealthState, LastFailure } from '../../parts/health.js';
import { Card, Loadable } from '../../parts/states.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';

const LIVE_MS = 5_000;

/** How the platform fares with a partner, for the key of its connection. */
export function ConnectionHomePage({ query }: PageProps) {
  const me = useLoad('/me', {}, LIVE_MS);
  return (
    <Loadable of={me}>
      {(key) =>
        key.connection === undefined ? (
          <p class="notice">The connection was deleted.</p>
        ) : (
          <>
            <StateCard caller={key} connection={key.connection} />
            <AttentionList />
            {key.connection.interface === 'vision' && <ListProblems query={query} />}
          </>
        )
      }
    </Loadable>
  );
}

function StateCard({ caller, connection }: { caller: KeyDescription; connection: Connection }) {
  const isSite = connection.interface === 'site';
  return (
    <Card title={`How the platform reads your ${isSite ? 'Site' : 'Vision'} interface`} label="Connection">
      <Facts
        of={{
          State: <HealthState of={connection} />,
          'Last success': <Time value={connection.health?.lastSuccessAt} />,
          'Last failure': <LastFailure of={connection} />,
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
    </Card>
  );
}

/** What the platform could not read of the lists of recordings, and why. */
const ListProblems = ({ query }: PageProps) => (
  <>
    <Card title="Times that were not read">
      <ListPage
        path="/unread-windows"
        query={query}
        name="times"
        everyMs={LIVE_MS}
        label="Times"
        columns={WINDOWS}
        keyOf={(row) => row.subscriptionId + row.startTime}
        empty={<p class="hint">None.</p>}
      />
    </Card>
    <Card title="Errors in your lists">
      <ListPage
        path="/findings"
        query={query}
        name="errors"
        everyMs={LIVE_MS}
        label="Errors"
        columns={FINDINGS}
        keyOf={({ path, reason }) => `${path} ${reason}`}
        empty={<p class="hint">None.</p>}
      />
    </Card>
  </>
);

const WINDOWS: readonly Column<UnreadWindow>[] = [
  { title: 'Truck', cell: ({ truckId }) => truckId },
  { title: 'From', cell: ({ startTime }) => <Time value={startTime} /> },
  { title: 'Until', cell: ({ endTime }) => <Time value={endTime} /> },
  { title: 'Reason', cell: ({ reason }) => reason },
  {
    title: 'Read again',
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? 'no' : <Time value={nextAttemptAt} />),
  },
];

const FINDINGS: readonly Column<VisionFinding>[] = [
  { title: 'Element', cell: ({ path }) => <code>{path}</code> },
  { title: 'Error', cell: ({ reason }) => reason },
  { title: 'Seen', isNumber: true, cell: ({ seen }) => formatCount(seen) },
  { title: 'Last seen', cell: ({ lastSeenAt }) => <Time value={lastSeenAt} /> },
];
