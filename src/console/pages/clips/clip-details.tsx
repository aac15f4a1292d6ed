import type { HistoryEntry } from '../../../contracts/admin/history.dto.js';
import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { zoneOf } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { canRetry, fileColumn, retryColumn } from '../../parts/retries.js';
import { Badge, Card, Detail, DetailHead } from '../../parts/states.js';
import { Facts, Id, Time } from '../../parts/values.js';

const LIVE_MS = 5_000;

/** One clip request: its file or why there is none, and the steps that led there. */
export const ClipDetails = ({ id, query }: PageProps & { id: string }) => (
  <Detail
    path={`/video-requests/${encodeURIComponent(id)}`}
    everyMs={LIVE_MS}
    back={linkWith('clips', query, { id: undefined })}
    list="All clip requests"
  >
    {(request) => (
      <>
        <Clip request={request} query={query} />
        <Card title="Steps">
          <ListPage
            path={`/video-requests/${encodeURIComponent(id)}/history`}
            query={query}
            name="steps"
            everyMs={LIVE_MS}
            label="Steps of the request"
            columns={STEPS}
            keyOf={({ at, text, exchangeId }) => `${at} ${exchangeId} ${text}`}
            empty={null}
          />
        </Card>
      </>
    )}
  </Detail>
);

function Clip({ request, query }: PageProps & { request: VideoRequest }) {
  const { canWrite } = useSession();
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
          status === 'stored' ? fileColumn(zoneOf(query)).cell(request) : reason,
      }}
    >
      <p class="actions">
        {canWrite && canRetry(request) && retryColumn.cell(request)}
        <a class="button" href={linkTo('coverage', { connectionId, truckId, from, to })}>
          Show this time of the truck
        </a>
      </p>
      <Facts
        of={{
          Hauler: <a href={linkTo('haulers', { id: haulerId })}>{haulerName(haulerId)}</a>,
          Connection: <a href={linkTo('connections', { id: connectionId })}>vision</a>,
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

const STEPS: readonly Column<HistoryEntry>[] = [
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  { title: 'What happened', cell: ({ text }) => text },
  {
    title: 'Exchange',
    cell: ({ exchangeId }) => exchangeId !== undefined && <a href={linkTo('exchanges', { id: exchangeId })}>open</a>,
  },
];
