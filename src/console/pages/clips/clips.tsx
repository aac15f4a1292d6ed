import type { VideoRequest } from '../../../contracts/admin/video-requests.routes.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { callErrorOf, send } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, BY_VISION_CONNECTION, byChoice, byText, byTime, overlapsOf, zoneOf } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { Badge, Detail, DetailHead, Empty, State } from '../../parts/states.js';
import { Facts, formatCount, formatSeconds, Id, Time } from '../../parts/values.js';
import { useState } from 'preact/hooks';
import { VIDEO_REQUEST_STATUSES } from '../../../contracts/admin/footage.values.js';
import { type Column, ListPage } from '../../parts/listing.js';

const DETAILS_MS = 3_000;

/** One clip request: its file, or why there is none. */
const ClipDetails = ({ id, query }: PageProps & { id: string }) => (
  <Detail path={`/video-requests/${encodeURIComponent(id)}`} everyMs={DETAILS_MS} list="All clip requests">
    {(request) => <Clip request={request} query={query} />}
  </Detail>
);

type ClipProps = PageProps & { readonly request: VideoRequest };

/** The parts of a stored clip. */
const Files = ({ request: { status, recordingIds }, query }: ClipProps) =>
  status === 'stored' && (
    <>
      {recordingIds.map((play, index) => (
        <span key={play}>
          {index > 0 && ' · '}
          <a href={linkTo('recordings', { play, zone: zoneOf(query) })}>
            {recordingIds.length === 1 ? 'Play' : `Play part ${index + 1}`}
          </a>
        </span>
      ))}
    </>
  );

/** Not of a file that retention has deleted. */
const canRetry = ({ status, reasonCode }: VideoRequest): boolean =>
  (status === 'failed' || status === 'expired') && reasonCode === undefined;

const AskAgain = ({ request }: Pick<ClipProps, 'request'>) =>
  useSession().canWrite && canRetry(request) ? (
    <ActionButton label="Ask again" busy="Asking …" work={() => send('POST', `/video-requests/${request.id}/retry`)} />
  ) : null;

function Clip({ request, query }: ClipProps) {
  const haulerName = useHaulerName();
  const { id, haulerId, connectionId, truckId, cameraId, startTime: from, endTime: to, status, reason } = request;
  return (
    <DetailHead
      title={`Clip of ${truckId}, camera ${cameraId}`}
      label="Clip request"
      badge={<Badge value={status} />}
      facts={{
        Recorded: (
          <>
            <Time value={from} /> to <Time value={to} />
          </>
        ),
        [status === 'stored' ? 'File' : 'Reason']:
          status === 'stored' ? <Files request={request} query={query} /> : reason,
      }}
    >
      <p class="actions">
        <AskAgain request={request} />
        <a class="button" href={linkTo('coverage', { connectionId, truckId, from, to })}>
          Show this time of the truck
        </a>
      </p>
      <Facts
        of={{
          Hauler: <a href={linkTo('haulers', { id: haulerId })}>{haulerName(haulerId)}</a>,
          Connection: <a href={linkTo('connections', { id: connectionId })}>vision</a>,
          Exchanges: <a href={linkTo('exchanges', { reference: `videoRequestId:${id}` })}>calls of this request</a>,
          Requested: <Time value={request.createdAt} />,
          By: request.createdBy,
          'Asked for until': status !== 'stored' && !canRetry(request) && <Time value={request.deadline} />,
          'Id of the partner': request.partnerRequestId,
          Id: <Id value={id} />,
        }}
      />
    </DetailHead>
  );
}

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
