import { useState } from 'preact/hooks';
import { VIDEO_REQUEST_STATUSES } from '../../../contracts/admin/footage.values.js';
import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { callErrorOf, send } from '../../client/api.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, BY_VISION_CONNECTION, byChoice, byText, byTime, overlapsOf } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, State } from '../../parts/states.js';
import { formatCount, formatSeconds, Time } from '../../parts/values.js';
import { AskAgain, canRetry, ClipDetails, Files } from './clip-details.js';

const LIVE_MS = 5_000;
const FILTERS = [
  BY_HAULER,
  BY_VISION_CONNECTION,
  byText('truckId', 'Truck'),
  byChoice('status', 'State', VIDEO_REQUEST_STATUSES),
  byTime('from', 'From'),
  byTime('to', 'Until'),
];

/** The clips that people asked partners for, the newest request first. */
export function ClipsPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <ClipList query={query} /> : <ClipDetails id={id} query={query} />;
}

function ClipList({ query }: PageProps) {
  const { canWrite } = useSession();
  return (
    <ListPage
      path="/video-requests"
      query={query}
      filters={FILTERS}
      folded
      asked={({ from, to, ...others }) => ({ ...others, overlaps: overlapsOf(from, to) })}
      everyMs={LIVE_MS}
      pageSize={50}
      label="Clip requests"
      columns={columnsOf(query)}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No clip was requested yet.">
          Select a time of a camera on the page <a href={linkTo('coverage')}>Coverage</a>.
        </Empty>
      }
    >
      {(rows) => canWrite && <AskForAll of={rows.filter(canRetry)} />}
    </ListPage>
  );
}

/** Asks partners for all shown clips again that have no file, and says which they refused to try. */
function AskForAll({ of: rows }: { of: readonly VideoRequest[] }) {
  const [done, setDone] = useState('');
  const askAgain = async () => {
    const refused: string[] = [];
    for (const { id } of rows) {
      await send('POST', `/video-requests/${id}/retry`).catch((error) => refused.push(callErrorOf(error).message));
    }
    const asked = `${formatCount(rows.length - refused.length)} of ${formatCount(rows.length)} are asked for again.`;
    setDone([asked, ...new Set(refused)].join(' '));
  };
  if (rows.length === 0 && done === '') return null;
  return (
    <p class="actions">
      {rows.length > 1 && (
        <ActionButton
          label={`Ask again for all ${formatCount(rows.length)} without a file`}
          busy="Asking the partners …"
          work={askAgain}
        />
      )}
      <span role="status">{done}</span>
    </p>
  );
}

const columnsOf = (query: URLSearchParams): readonly Column<VideoRequest>[] => [
  {
    title: 'Clip',
    cell: ({ id, truckId, cameraId }) => (
      <a href={linkWith('clips', query, { id })}>
        {truckId}, {cameraId}
      </a>
    ),
  },
  { title: 'State', cell: ({ status, reason }) => <State value={status} reason={reason ?? null} /> },
  { title: 'Recorded at', cell: ({ startTime }) => <Time value={startTime} /> },
  {
    title: 'Length',
    isNumber: true,
    cell: ({ startTime, endTime }) => formatSeconds((Date.parse(endTime) - Date.parse(startTime)) / 1_000),
  },
  {
    title: 'Requested',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time value={createdAt} />
        {createdBy !== undefined && <div class="hint">by {createdBy}</div>}
      </>
    ),
  },
  {
    title: 'File',
    cell: (request) => (
      <>
        <Files request={request} query={query} />
        <AskAgain request={request} />
      </>
    ),
  },
];
