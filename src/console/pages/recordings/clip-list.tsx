import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import { VIDEO_REQUEST_STATUSES } from '../../../contracts/admin/footage.values.js';
import { linkTo, type PageProps } from '../../client/address.js';
import { useSession } from '../../client/session.js';
import { BY_VISION_CONNECTION, byChoice, byText, byTime, overlapsOf, zoneOf } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { formatSeconds } from '../../parts/values.js';
import { CLIP_COLUMNS, fileColumn, retryColumn } from '../../parts/retries.js';

const LIVE_MS = 5_000;
const FILTERS = [
  BY_VISION_CONNECTION,
  byText('truckId', 'Truck'),
  byChoice('status', 'State', VIDEO_REQUEST_STATUSES),
  byTime('from', 'From'),
  byTime('to', 'Until'),
];

/** The clip requests of all trucks with the reasons of those that ended, the newest first. */
export function ClipList({ query }: PageProps) {
  const { canWrite } = useSession();
  const columns = [
    TRUCK,
    ...CLIP_COLUMNS,
    LENGTH,
    fileColumn(zoneOf(query)),
    ...(canWrite ? [retryColumn] : []),
  ] as const;
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
    />
  );
}

/** Opens the range of the clip, not the day on which it ended. */
const TRUCK: Column<VideoRequest> = {
  title: 'Truck',
  cell: ({ connectionId, truckId, startTime: from, endTime: to }) => (
    <a href={linkTo('coverage', { connectionId, truckId, from, to })}>{truckId}</a>
  ),
};

const LENGTH: Column<VideoRequest> = {
  title: 'Length',
  isNumber: true,
  cell: ({ startTime, endTime }) => formatSeconds((Date.parse(endTime) - Date.parse(startTime)) / 1_000),
};
