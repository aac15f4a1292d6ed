import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { zoneOf } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { Badge, Detail, DetailHead } from '../../parts/states.js';
import { Facts, Id, Time } from '../../parts/values.js';

const LIVE_MS = 3_000;

/** One clip request: its file, or why there is none. */
export const ClipDetails = ({ id, query }: PageProps & { id: string }) => (
  <Detail
    path={`/video-requests/${encodeURIComponent(id)}`}
    everyMs={LIVE_MS}
    back={linkWith('clips', query, { id: undefined })}
    list="All clip requests"
  >
    {(request) => <Clip request={request} query={query} />}
  </Detail>
);

interface ClipProps extends PageProps {
  readonly request: VideoRequest;
}

/** The parts of a stored clip. */
export const Files = ({ request: { status, recordingIds }, query }: ClipProps) =>
  status === 'stored' && (
    <>
      {recordingIds.map((play, index) => (
        <a key={play} href={linkTo('recordings', { play, zone: zoneOf(query) })}>
          {recordingIds.length === 1 ? 'Play' : `Play part ${index + 1}`}{' '}
        </a>
      ))}
    </>
  );

/** Not of a file that retention has deleted. */
export const canRetry = ({ status, reasonCode }: VideoRequest): boolean =>
  (status === 'failed' || status === 'expired') && reasonCode === undefined;

export const AskAgain = ({ request }: Pick<ClipProps, 'request'>) =>
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
