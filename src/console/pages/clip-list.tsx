import type { VideoRequest } from '../../contracts/admin/video-request.dto.js';
import { VIDEO_REQUEST_STATUSES } from '../../contracts/admin/video-request.values.js';
import { linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import {
  Filters,
  overlapsOf,
  pick,
  SelectFilter,
  TextFilter,
  TimeFilter,
  VisionConnectionFilter,
  zoneOf,
} from '../parts/filters.js';
import { type Column, Listing } from '../parts/listing.js';
import { Empty } from '../parts/states.js';
import { formatSeconds } from '../parts/values.js';
import { CLIP_COLUMNS, fileColumn, retryColumn } from './retries.js';

const LIVE_MS = 5_000;

/** The clip requests of all trucks with the reasons of those that ended, the newest first. */
export function ClipList({ query }: PageProps) {
  const { canWrite } = useSession();
  const filters = pick(query, 'connectionId', 'truckId', 'status', 'from', 'to', 'page', 'cursor');
  const { from, to, ...others } = filters;
  const list = useLoad('/video-requests', { ...others, overlaps: overlapsOf(from, to), pageSize: 50 }, LIVE_MS);
  const columns = [
    TRUCK,
    ...CLIP_COLUMNS,
    LENGTH,
    fileColumn(zoneOf(query)),
    ...(canWrite ? [retryColumn] : []),
  ] as const;
  return (
    <>
      <Filters>
        <VisionConnectionFilter query={query} />
        <TextFilter name="truckId" label="Truck" query={query} />
        <SelectFilter name="status" label="State" query={query} choices={VIDEO_REQUEST_STATUSES} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
      </Filters>
      <Listing
        label="Clip requests"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <Empty title="No clip was requested yet.">
            Select a time of a camera on the page <a href={linkTo('coverage')}>Coverage</a>.
          </Empty>
        }
      />
    </>
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
