import type { Connection } from '../../../contracts/admin/connection.dto.js';
import type { VisionFinding } from '../../../contracts/admin/vision-finding.dto.js';
import type { UnreadWindow } from '../../../contracts/admin/video-subscription.dto.js';
import type { KeyDescription } from '../../../contracts/partner/partner.api.js';
import { useLoad } from '../../client/load.js';
import { AttentionList } from '../../parts/attention.js';
import { type Column, Table } from '../../parts/listing.js';
import { CallState, Card, Loadable } from '../../parts/states.js';
import { formatCount, Facts, Id, Time } from '../../parts/values.js';

const LIVE_MS = 5_000;

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
            <AttentionList />
            {key.connection.interface === 'vision' && <ListProblems />}
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
          State: <CallState of={connection} />,
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
function ListProblems() {
  const windows = useLoad('/unread-windows', {}, LIVE_MS).data?.data ?? [];
  const findings = useLoad('/findings', {}, LIVE_MS).data?.data ?? [];
  return (
    <>
      {windows.length > 0 && (
        <Card title="Times that were not read">
          <Table label="Times" rows={windows} columns={WINDOWS} keyOf={(row) => row.subscriptionId + row.startTime} />
        </Card>
      )}
      {findings.length > 0 && (
        <Card title="Errors in your lists">
          <Table label="Errors" rows={findings} columns={FINDINGS} keyOf={({ path, reason }) => `${path} ${reason}`} />
        </Card>
      )}
    </>
  );
}

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
