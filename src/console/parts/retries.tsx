import { useState } from 'preact/hooks';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { VideoRequest } from '../../contracts/admin/video-request.dto.js';
import type { PageProps } from '../client/address.js';
import { linkTo } from '../client/links.js';
import { send } from '../client/api.js';
import { useConnectionName } from '../client/haulers.js';
import { useSession } from '../client/session.js';
import { pick } from './filters.js';
import { ActionButton } from './forms.js';
import { type Column, Table } from './listing.js';
import { Badge } from './states.js';
import { formatCount, Time } from './values.js';

const hasEnded = ({ status }: { readonly status: string }): boolean => status === 'failed' || status === 'expired';

/** Fetches one recording again. Nothing where retention has deleted its file, and for a session that may only read. */
export function RetryRecording({ recording }: { recording: StoredRecording }) {
  const { canWrite } = useSession();
  if (!canWrite || !hasEnded(recording) || recording.reasonCode === 'fileRemoved') return null;
  return (
    <p class="actions">
      <ActionButton
        label="Fetch this recording again"
        kind="primary"
        busy="Asking the partner …"
        work={() => send('POST', `/recordings/${recording.id}/retry`)}
      />
    </p>
  );
}

/** Fetches all recordings of the filter again that failed or expired. A retry knows neither cameras nor sources. */
export function RetryFiltered({ query }: PageProps) {
  const { canWrite } = useSession();
  const connectionName = useConnectionName();
  const [matched, setMatched] = useState<number>();
  const { connectionId, status = '', ...range } = pick(query, 'connectionId', 'truckId', 'from', 'to', 'status');
  const { truckId, from, to } = range;
  const isNarrower = query.has('cameraId') || query.has('source');
  if (!canWrite || connectionId === undefined || !hasEnded({ status }) || isNarrower) return null;
  const owner = truckId === undefined ? `of ${connectionName(connectionId)}` : `of ${truckId}`;
  const time = from === undefined && to === undefined ? '' : ' in this time';
  return (
    <p class="actions">
      <ActionButton
        label="Fetch all of these again"
        confirm={`All failed and expired recordings ${owner}${time} are fetched again.`}
        work={async () => setMatched((await send('POST', '/recordings/retry', { connectionId, ...range })).matched)}
      />
      {matched !== undefined && <span role="status">Fetched again: {formatCount(matched)}</span>}
    </p>
  );
}

interface ClipRequestsProps {
  readonly requests: readonly VideoRequest[];
  /** The shown range, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly zone: string;
}

export const fileColumn = (zone: string): Column<VideoRequest> => ({
  title: 'File',
  cell: ({ status, recordingIds }) =>
    status === 'stored' &&
    recordingIds.map((play, index) => (
      <a key={play} href={linkTo('recordings', { play, zone })}>
        {recordingIds.length === 1 ? 'Play' : `Play part ${index + 1}`}{' '}
      </a>
    )),
});

/** The clip requests of the shown range, those that failed first. */
export function ClipRequests({ requests, from, to, zone }: ClipRequestsProps) {
  const { canWrite } = useSession();
  const shown = requests
    .filter(({ startTime, endTime }) => Date.parse(startTime) < to && Date.parse(endTime) > from)
    .toSorted((one, other) => Number(hasEnded(other)) - Number(hasEnded(one)));
  if (shown.length === 0) return null;
  return (
    <>
      <h3>Clip requests</h3>
      <Table
        label="Clip requests"
        rows={shown}
        columns={[...CLIP_COLUMNS, fileColumn(zone), ...(canWrite ? [retryColumn] : [])]}
        keyOf={({ id }) => id}
      />
    </>
  );
}

/** Not of a file that retention has deleted. */
export const canRetry = ({ status, reasonCode }: VideoRequest): boolean =>
  hasEnded({ status }) && reasonCode === undefined;

export const retryColumn: Column<VideoRequest> = {
  title: 'Retry',
  cell: (request) =>
    canRetry(request) && (
      <ActionButton
        label={`Ask again for the clip of ${request.cameraId}`}
        busy="Asking the partner …"
        work={() => send('POST', `/video-requests/${request.id}/retry`)}
      />
    ),
};

export const CLIP_COLUMNS: readonly Column<VideoRequest>[] = [
  { title: 'Camera', cell: ({ cameraId }) => cameraId },
  { title: 'Start', cell: ({ startTime }) => <Time value={startTime} /> },
  {
    title: 'State',
    cell: ({ status, reason }) => (
      <>
        <Badge value={status} />
        {reason !== undefined && <div class="hint">{reason}</div>}
      </>
    ),
  },
];
