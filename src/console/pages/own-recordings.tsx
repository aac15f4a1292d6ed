import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { RECORDING_STATUSES } from '../../contracts/admin/recording.values.js';
import type { PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, pick, SelectFilter, TextFilter, TimeFilter } from '../parts/filters.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { formatBytes, Time } from '../parts/values.js';
import { RetryRecording } from './retries.js';

const LIVE_MS = 5_000;

/** The recordings of a partner's own connection, for its key: their files are not played here. */
export function OwnRecordingsPage({ query }: PageProps) {
  const filters = pick(query, 'truckId', 'cameraId', 'status', 'from', 'to', 'page', 'cursor');
  const list = useLoad('/recordings', { ...filters, pageSize: 50 }, LIVE_MS);
  return (
    <>
      <Filters>
        <TextFilter name="truckId" label="Truck" query={query} />
        <SelectFilter name="status" label="State" query={query} choices={RECORDING_STATUSES} />
        <TextFilter name="cameraId" label="Camera" query={query} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
      </Filters>
      <Listing
        label="Recordings"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={<Empty title="No recording yet.">What the platform finds in your lists appears here.</Empty>}
      />
    </>
  );
}

const COLUMNS: readonly Column<StoredRecording>[] = [
  {
    title: 'Camera',
    cell: ({ truckId, cameraId, source }) => (
      <>
        {truckId}, {cameraId}
        <div class="hint">{source}</div>
      </>
    ),
  },
  { title: 'Start', cell: ({ startTime }) => <Time value={startTime} /> },
  { title: 'Your id', cell: ({ partnerRecordingId }) => <code>{partnerRecordingId}</code> },
  {
    title: 'State',
    cell: ({ status, reason }) => (
      <>
        <Badge value={status} />
        {reason !== undefined && <div class="hint clamp">{reason}</div>}
      </>
    ),
  },
  { title: 'Size', isNumber: true, cell: ({ sizeBytes }) => (sizeBytes === undefined ? '–' : formatBytes(sizeBytes)) },
  { title: 'Retry', cell: (recording) => <RetryRecording recording={recording} /> },
];
