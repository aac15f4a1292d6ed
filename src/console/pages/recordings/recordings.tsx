import { linkTo, linkToFilter, linkWith } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import type { RecordingDetails, StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import { RECORDING_STATUSES } from '../../../contracts/admin/footage.values.js';
import type { PageProps } from '../../client/address.js';
import { useSession } from '../../client/session.js';
import { BY_VISION_CONNECTION, byChoice, byText, byTime, zoneOf } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Detail, DetailHead, Empty, State } from '../../parts/states.js';
import { formatBytes, formatSeconds, Time } from '../../parts/values.js';
import { rangeText } from '../../parts/zone.rules.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';
import { Player } from '../player/player.js';
import { lifeOf } from './recording-life.rules.js';
import { RecordingGallery } from './recording-gallery.js';
import { RetryFiltered, RetryRecording } from '../../parts/retries.js';
import { Shares } from './shares.js';

/** Links to the tickets that were weighed during a recording. */
function RecordedTickets({ recordingId }: { recordingId: string }) {
  const tickets = useLoad(`/recordings/${recordingId}/tickets`).data?.data ?? [];
  if (tickets.length === 0) return null;
  return (
    <p aria-label="Tickets of this recording" role="group">
      {tickets.length === 1 ? 'Ticket' : 'Tickets'} of this time:{' '}
      {tickets.map(({ id, flows }, index) => (
        <span key={id}>
          {index > 0 && ' · '}
          <a href={linkTo('tickets', { id })}>{flows.map(({ ticketNumber }) => ticketNumber).join(' / ')}</a>
        </span>
      ))}
    </p>
  );
}

const LIVE_MS = 5_000;
const SOURCES = ['continuous', ['on-demand', 'on demand']] as const;
const FILTERS = [
  BY_VISION_CONNECTION,
  byText('truckId', 'Truck'),
  byText('cameraId', 'Camera'),
  byChoice('source', 'Source', SOURCES),
  byChoice('status', 'State', RECORDING_STATUSES),
  byTime('from', 'Starts from'),
  byTime('to', 'Starts before'),
];

export function RecordingsPage({ query }: PageProps) {
  const id = query.get('play');
  if (id !== null) return <OneRecording id={id} query={query} />;
  const shown = viewOf(query);
  const View = VIEWS[shown].of;
  return (
    <>
      <p class="actions views">
        {VIEW_NAMES.map((view) => (
          <a
            key={view}
            class="button"
            href={linkToFilter('recordings', query, { view })}
            aria-current={view === shown ? 'true' : undefined}
          >
            {VIEWS[view].title}
          </a>
        ))}
      </p>
      <View key={shown} query={query} />
    </>
  );
}

const VIEWS = {
  gallery: { title: 'Gallery', of: RecordingGallery },
  list: { title: 'List', of: RecordingList },
} as const;
const VIEW_NAMES = Object.keys(VIEWS) as (keyof typeof VIEWS)[];

/** Recordings in another state have no picture, so that a filter by state or source opens the list. */
const viewOf = (query: URLSearchParams): keyof typeof VIEWS =>
  VIEW_NAMES.find((view) => view === query.get('view')) ??
  (query.has('status') || query.has('source') ? 'list' : 'gallery');

/** Also of the connection of a partner, by its key: the files are not played there, and each is fetched again in its row. */
export function RecordingList({ query }: PageProps) {
  const { isPartner } = useSession();
  return (
    <ListPage
      path="/recordings"
      query={query}
      filters={isPartner ? FILTERS.slice(1) : FILTERS}
      everyMs={LIVE_MS}
      hasCsv
      label="Recordings"
      columns={isPartner ? PARTNERS_COLUMNS : [linkColumn(query), ...COLUMNS]}
      empty={<Empty title="No recording yet.">What the lists of a partner have, and each clip, appears here.</Empty>}
    >
      {!isPartner && <RetryFiltered query={query} />}
    </ListPage>
  );
}

const linkColumn = (query: URLSearchParams): Column<StoredRecording> => ({
  title: 'Recording',
  cell: ({ id, truckId, cameraId, status }) => (
    <a href={linkWith('recordings', query, { play: id })}>
      {status === 'stored' ? 'Play' : 'Open'} {truckId}, {cameraId}
    </a>
  ),
});

const COLUMNS: readonly Column<StoredRecording>[] = [
  { title: 'Start', cell: ({ startTime }) => <Time value={startTime} /> },
  { title: 'Length', isNumber: true, cell: ({ durationSeconds }) => formatSeconds(durationSeconds) },
  { title: 'Source', cell: ({ source }) => source },
  { title: 'State', cell: ({ status, reason = null }) => <State value={status} reason={reason} /> },
  {
    title: 'Link expires',
    cell: ({ status, expiresAt }) =>
      status === 'stored' ? <span class="muted">not needed</span> : <Time value={expiresAt} />,
  },
  {
    title: 'Size',
    isNumber: true,
    cell: ({ sizeBytes }) => (sizeBytes === undefined ? '–' : formatBytes(sizeBytes)),
  },
];

const PARTNERS_COLUMNS: readonly Column<StoredRecording>[] = [
  { title: 'Camera', cell: ({ truckId, cameraId }) => `${truckId}, ${cameraId}` },
  { title: 'Your id', cell: ({ partnerRecordingId }) => <code>{partnerRecordingId}</code> },
  ...COLUMNS,
  { title: 'Retry', cell: (recording) => <RetryRecording recording={recording} /> },
];

function OneRecording({ id, query }: { id: string; query: URLSearchParams }) {
  return (
    <Detail path={`/recordings/${encodeURIComponent(id)}`} everyMs={LIVE_MS} list="All recordings">
      {(data) => (
        <>
          <DetailHead
            title={`${data.truckId}, ${cameraLabel(data.cameraId)}`}
            label="Recording"
            badge={<Badge value={data.status} />}
            facts={{
              Recorded: rangeText(Date.parse(data.startTime), Date.parse(data.endTime), zoneOf(query)),
              File: data.status === 'stored' ? formatBytes(data.sizeBytes ?? 0) : 'not stored',
            }}
          >
            <RetryRecording recording={data} />
            <RecordedTickets recordingId={data.id} />
            {data.status === 'stored' && <Player recording={data} query={query} />}
          </DetailHead>
          {'life' in data && (
            <Card title="What happened to it" label="Life">
              <Life recording={data} />
            </Card>
          )}
          {data.status === 'stored' ? <Shares recordings={[data]} /> : <Player recording={data} query={query} />}
        </>
      )}
    </Detail>
  );
}

/** What happened to it, the first step first. */
const Life = ({ recording }: { recording: RecordingDetails }) => (
  <ol class="line" aria-label="Steps">
    {lifeOf(recording).map(({ word, tone, at, text }) => (
      <li key={word} class={tone}>
        <p class="step-head">
          <Badge value={word} tone={tone} />
          {at !== undefined && (
            <span class="hint">
              <Time value={at} />
            </span>
          )}
          {word === 'Held' &&
            recording.holdIds.map((id, i) => (
              <a key={id} href={linkTo('holds', { id })}>
                Hold {i + 1}
              </a>
            ))}
        </p>
        {text !== undefined && <p>{text}</p>}
      </li>
    ))}
  </ol>
);
