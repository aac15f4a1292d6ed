import { useState } from 'preact/hooks';
import { VIDEO_REQUEST_STATUSES } from '../../../contracts/admin/footage.values.js';
import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { callErrorOf, send } from '../../client/api.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, BY_VISION_CONNECTION, byChoice, byText, byTime, overlapsOf, zoneOf } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { canRetry, fileColumn } from '../../parts/retries.js';
import { Empty, State } from '../../parts/states.js';
import { formatCount, formatSeconds, Time } from '../../parts/values.js';
import { ClipDetails } from './clip-details.js';

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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const columns = [
    ...(canWrite ? [choiceColumn(chosen, setChosen)] : []),
    ...columnsOf(query),
    ...(canWrite ? [AGAIN] : []),
  ];
  return (
    <ListPage
      path="/video-requests"
      query={query}
      filters={FILTERS}
      asked={({ from, to, ...others }) => ({ ...others, overlaps: overlapsOf(from, to) })}
      everyMs={LIVE_MS}
      pageSize={50}
      label="Clip requests"
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No clip was requested yet.">
          Select a time of a camera on the page <a href={linkTo('coverage')}>Coverage</a>.
        </Empty>
      }
    >
      {(rows) => canWrite && <AskAgain of={rows.filter(canRetry)} chosen={chosen} onChoose={setChosen} />}
    </ListPage>
  );
}

interface ChoiceProps {
  readonly of: readonly VideoRequest[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (ids: ReadonlySet<string>) => void;
}

/** Asks partners for many clips again, one after the other, and says which they refused to try. */
function AskAgain({ of: rows, chosen, onChoose }: ChoiceProps) {
  const [done, setDone] = useState('');
  const own = rows.filter(({ id }) => chosen.has(id));
  const askAgain = async () => {
    const refused: string[] = [];
    for (const { id } of own) {
      await send('POST', `/video-requests/${id}/retry`).catch((error) => refused.push(callErrorOf(error).message));
    }
    onChoose(new Set());
    const asked = `${formatCount(own.length - refused.length)} of ${formatCount(own.length)} are asked for again.`;
    setDone([asked, ...new Set(refused)].join(' '));
  };
  if (rows.length === 0 && done === '') return null;
  return (
    <p class="actions">
      {rows.length > 0 && (
        <button
          type="button"
          onClick={() => onChoose(new Set(own.length === rows.length ? [] : rows.map(({ id }) => id)))}
        >
          {own.length === rows.length ? 'Choose none' : `Choose all ${formatCount(rows.length)} without a file`}
        </button>
      )}
      {own.length > 0 && (
        <ActionButton
          label={`Ask again for ${formatCount(own.length)} ${own.length === 1 ? 'clip' : 'clips'}`}
          kind="primary"
          busy="Asking the partners …"
          work={askAgain}
        />
      )}
      <span role="status">{done}</span>
    </p>
  );
}

const choiceColumn = (chosen: ReadonlySet<string>, onChoose: ChoiceProps['onChoose']): Column<VideoRequest> => ({
  title: 'Choose',
  cell: (row) =>
    canRetry(row) && (
      <input
        type="checkbox"
        aria-label={`Choose the clip of ${row.truckId}, ${row.cameraId}`}
        checked={chosen.has(row.id)}
        onChange={({ currentTarget: { checked } }) => {
          const others = [...chosen].filter((id) => id !== row.id);
          onChoose(new Set(checked ? [...others, row.id] : others));
        }}
      />
    ),
});

const AGAIN: Column<VideoRequest> = {
  title: 'Again',
  cell: (row) =>
    canRetry(row) && (
      <ActionButton label="Ask again" busy="Asking …" work={() => send('POST', `/video-requests/${row.id}/retry`)} />
    ),
};

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
  fileColumn(zoneOf(query)),
];
