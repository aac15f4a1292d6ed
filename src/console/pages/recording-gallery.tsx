import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { linkTo, linkWith, type PageProps } from '../client/address.js';
import { urlOf } from '../client/api.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import {
  Filters,
  overlapsOf,
  pick,
  TextFilter,
  TimeFilter,
  VisionConnectionFilter,
  ZoneChoice,
  zoneOf,
} from '../parts/filters.js';
import { NoRows, Pager } from '../parts/listing.js';
import { Empty, Loadable } from '../parts/states.js';
import { formatSeconds } from '../parts/values.js';
import { localTime } from '../parts/zone.rules.js';
import { cameraLabel } from './coverage-sentence.rules.js';

const LIVE_MS = 15_000;
const TILES_PER_PAGE = 60;
const HOUR_MS = 3_600_000;
/** Around the window. */
const NEAR = '200px 0px';
/** The picture of the start is often black. */
const FIRST_PICTURE = '#t=0.5';

/** The stored recordings by truck and hour, each with a picture. The newest first. */
export function RecordingGallery({ query }: PageProps) {
  const zone = zoneOf(query);
  const filters = pick(query, 'connectionId', 'truckId', 'cameraId', 'from', 'to', 'page', 'cursor');
  const { from, to, ...others } = filters;
  const shown = { ...others, overlaps: overlapsOf(from, to), status: 'stored', pageSize: TILES_PER_PAGE };
  const list = useLoad('/recordings', shown, LIVE_MS);
  const haulerName = useHaulerName();
  return (
    <>
      <Filters>
        <VisionConnectionFilter query={query} />
        <TextFilter name="truckId" label="Truck" query={query} />
        <TextFilter name="cameraId" label="Camera" query={query} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
        <ZoneChoice query={query} />
      </Filters>
      <Loadable of={list}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <NoRows
              filters={filters}
              empty={
                <Empty title="No recording is stored yet.">
                  Subscribe to a truck or request a clip: <a href={linkTo('coverage')}>Coverage</a> shows the trucks.
                </Empty>
              }
            />
          ) : (
            <>
              {hoursOf(data, zone).map(({ key, recordings, first }) => (
                <section key={key} class="card" aria-label={`${first.truckId}, ${hourText(first, zone)}`}>
                  <h2>
                    {first.truckId}{' '}
                    <span class="range" translate={false}>
                      {hourText(first, zone)}
                    </span>{' '}
                    <span class="hint">{haulerName(first.haulerId)}</span>
                  </h2>
                  <ul class="gallery">
                    {recordings.map((recording) => (
                      <Tile key={recording.id} recording={recording} query={query} zone={zone} />
                    ))}
                  </ul>
                </section>
              ))}
              <Pager {...pagination} />
            </>
          )
        }
      </Loadable>
    </>
  );
}

/** In the order in which their first recording comes. */
function hoursOf(recordings: readonly StoredRecording[], zone: string) {
  const hour = ({ connectionId, truckId, startTime }: StoredRecording) =>
    JSON.stringify([connectionId, truckId, Math.floor(localTime(Date.parse(startTime), zone) / HOUR_MS)]);
  return [...Map.groupBy(recordings, hour)].flatMap(([key, group]) => {
    const inOrder = group.toSorted(
      (one, other) =>
        Date.parse(one.startTime) - Date.parse(other.startTime) || (one.cameraId < other.cameraId ? -1 : 1),
    );
    return inOrder[0] === undefined ? [] : [{ key, recordings: inOrder, first: inOrder[0] }];
  });
}

const hourText = ({ startTime }: StoredRecording, zone: string): string => {
  const hour = Math.floor(Date.parse(startTime) / HOUR_MS) * HOUR_MS;
  return new Date(hour).toLocaleString(undefined, {
    ...{ timeZone: zone, weekday: 'short', month: 'short', day: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
};

interface TileProps extends PageProps {
  readonly recording: StoredRecording;
  readonly zone: string;
}

function Tile({ recording, query, zone }: TileProps) {
  const { id, truckId, cameraId, startTime, durationSeconds } = recording;
  const { may } = useSession();
  const camera = cameraLabel(cameraId);
  const time = new Date(startTime).toLocaleTimeString(undefined, { timeZone: zone, hourCycle: 'h23' });
  return (
    <li>
      <a href={linkWith('recordings', query, { play: id })}>
        {may('viewer+video') ? <Picture id={id} /> : <span class="poster unknown" aria-hidden="true" />}
        <span class="hidden">Play {truckId}, </span>
        <span>{camera}</span>
        <span class="hint">
          {time}, {formatSeconds(durationSeconds)}
        </span>
      </a>
    </li>
  );
}

/** The first picture of a file, as the browser shows it. Only tiles in view, or nearly, have one: a browser plays few files at once. */
function Picture({ id }: { id: string }) {
  const box = useRef<HTMLSpanElement>(null);
  const [isNear, setNear] = useState(false);
  const [isUnplayable, setUnplayable] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting === true), {
      rootMargin: NEAR,
    });
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <span ref={box} class={`poster ${isUnplayable ? 'unknown' : ''}`} aria-hidden="true">
      {isNear && !isUnplayable && (
        <video
          src={`${urlOf(`/recordings/${id}/content`, { preview: 'true' })}${FIRST_PICTURE}`}
          muted
          playsInline
          preload="metadata"
          onError={() => setUnplayable(true)}
        />
      )}
    </span>
  );
}
