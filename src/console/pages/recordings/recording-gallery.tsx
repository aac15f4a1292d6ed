import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { urlOf } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_VISION_CONNECTION, BY_ZONE, byText, byTime, overlapsOf, zoneOf } from '../../parts/filters.js';
import { ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { formatSeconds } from '../../parts/values.js';
import { localTime } from '../../parts/zone.rules.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';
import { drawFirstPicture } from './first-picture.js';

const LIVE_MS = 15_000;
const TILES_PER_PAGE = 60;
const HOUR_MS = 3_600_000;
/** Around the window. */
const NEAR = '200px 0px';

const FILTERS = [
  BY_VISION_CONNECTION,
  byText('truckId', 'Truck'),
  byText('cameraId', 'Camera'),
  byTime('from', 'From'),
  byTime('to', 'Until'),
  BY_ZONE,
];

/** The recordings by truck and hour, each with its first picture or why it has none. The newest first. */
export function RecordingGallery({ query }: PageProps) {
  const zone = zoneOf(query);
  const haulerName = useHaulerName();
  return (
    <ListPage
      path="/recordings"
      query={query}
      filters={FILTERS}
      asked={({ from, to, ...others }) => ({ ...others, overlaps: overlapsOf(from, to) })}
      pageSize={TILES_PER_PAGE}
      everyMs={LIVE_MS}
      view={(rows) =>
        hoursOf(rows, zone).map(({ key, recordings, first }) => (
          <section key={key} class="card" aria-label={`${first.truckId}, ${hourText(first, zone)}`}>
            <h2>
              {first.truckId} <span class="range">{hourText(first, zone)}</span>{' '}
              <span class="hint">{haulerName(first.haulerId)}</span>
            </h2>
            <ul class="gallery">
              {recordings.map((recording) => (
                <Tile key={recording.id} recording={recording} query={query} zone={zone} />
              ))}
            </ul>
          </section>
        ))
      }
      empty={
        <Empty title="No recording yet.">
          Subscribe to a truck or request a clip: <a href={linkTo('coverage')}>Coverage</a> shows the trucks.
        </Empty>
      }
    />
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
  const { id, truckId, cameraId, startTime, durationSeconds, status, reasonCode } = recording;
  const { may } = useSession();
  const [why, setWhy] = useState<string>();
  const time = new Date(startTime).toLocaleTimeString(undefined, { timeZone: zone, hourCycle: 'h23' });
  const without = may('viewer+video') ? why : 'Pictures need the role viewer+video.';
  const state = reasonCode === 'fileRemoved' ? WITHOUT_FILE.deleted : WITHOUT_FILE[status];
  return (
    <li>
      <a href={linkWith('recordings', query, { play: id })}>
        <span class="hidden">
          {status === 'stored' ? 'Play' : 'Open'} {truckId},{' '}
        </span>
        {(state ?? without) === undefined ? (
          <Picture id={id} onNone={setWhy} />
        ) : (
          <span class="poster unknown">{state ?? without}</span>
        )}
        <span>{cameraLabel(cameraId)}</span>
        <span class="hint">
          {time}, {formatSeconds(durationSeconds)}
        </span>
      </a>
    </li>
  );
}

/** Why a recording in this state has no picture. */
const WITHOUT_FILE: Readonly<Record<string, string | undefined>> = {
  available: 'Waits for its download.',
  downloading: 'Is being downloaded.',
  deleted: 'Deleted by its age.',
  expired: 'Its link expired before the download.',
  failed: 'The download failed.',
};

/** The first picture of a file, drawn when it comes into view. It stays. */
function Picture({ id, onNone }: { id: string; onNone: (why: string) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const element = canvas.current;
    if (element === null || isDrawn) return undefined;
    let abort: AbortController | undefined;
    const read = ({ signal }: AbortController) => {
      drawFirstPicture(urlOf(`/recordings/${id}/content`, { preview: 'true' }), element, signal)
        .then((why) => (why === undefined ? setDrawn(true) : onNone(why)))
        // It was scrolled out of view, or the network is away: it is read when it comes back.
        .catch(() => undefined);
    };
    const observer = new IntersectionObserver(
      ([entry]) => {
        abort?.abort();
        if (entry?.isIntersecting === true) read((abort = new AbortController()));
      },
      { rootMargin: NEAR },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      abort?.abort();
    };
  }, [isDrawn]);
  return <canvas ref={canvas} class={`poster ${isDrawn ? 'drawn' : ''}`} width={320} height={180} aria-hidden="true" />;
}
