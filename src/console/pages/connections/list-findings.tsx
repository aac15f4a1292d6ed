import type { VisionFinding } from '../../../contracts/admin/vision-finding.dto.js';
import type { PageProps } from '../../client/address.js';
import { useConnectionName } from '../../client/haulers.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Card, Empty } from '../../parts/states.js';
import { formatCount, Time } from '../../parts/values.js';

export const FINDING_COLUMNS: readonly Column<VisionFinding>[] = [
  { title: 'Element', cell: ({ path }) => <code>{path}</code> },
  { title: 'Error', cell: ({ reason }) => reason },
  { title: 'Seen', isNumber: true, cell: ({ seen }) => formatCount(seen) },
  { title: 'Last seen', cell: ({ lastSeenAt }) => <Time value={lastSeenAt} /> },
];

/** What was wrong in the video lists of the partners of a hauler. */
export function ListFindings({ haulerId, query }: PageProps & { haulerId: string }) {
  const connectionName = useConnectionName();
  const columns: readonly Column<VisionFinding>[] = [
    { title: 'Connection', cell: ({ connectionId }) => connectionName(connectionId) },
    ...FINDING_COLUMNS,
  ];
  return (
    <Card title="Errors in video lists">
      <ListPage
        path="/vision-findings"
        query={query}
        fixed={{ haulerId }}
        hasCsv
        label="Errors"
        columns={columns}
        keyOf={({ connectionId, path, reason }) => `${connectionId} ${path} ${reason}`}
        empty={<Empty title="No error.">The video lists of the partners are in the form of the interface.</Empty>}
      />
    </Card>
  );
}
