import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import { RECORDING_STATUSES } from '../../../contracts/admin/footage.values.js';
import type { PageProps } from '../../client/address.js';
import { byChoice, byText, byTime } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { RetryRecording } from '../../parts/retries.js';
import { SIZE, START, STATE } from './recording-columns.js';

const LIVE_MS = 5_000;
const FILTERS = [
  byText('truckId', 'Truck'),
  byChoice('status', 'State', RECORDING_STATUSES),
  byText('cameraId', 'Camera'),
  byTime('from', 'From'),
  byTime('to', 'Until'),
];

/** The recordings of a partner's own connection, for its key: their files are not played here. */
export function OwnRecordingsPage({ query }: PageProps) {
  return (
    <ListPage
      path="/recordings"
      query={query}
      filters={FILTERS}
      everyMs={LIVE_MS}
      pageSize={50}
      label="Recordings"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={<Empty title="No recording yet.">What the platform finds in your lists appears here.</Empty>}
    />
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
  START,
  { title: 'Your id', cell: ({ partnerRecordingId }) => <code>{partnerRecordingId}</code> },
  STATE,
  SIZE,
  { title: 'Retry', cell: (recording) => <RetryRecording recording={recording} /> },
];
