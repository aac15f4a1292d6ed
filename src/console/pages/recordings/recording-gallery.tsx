import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import { linkTo, linkWith, type PageProps } from '../../client/address.js';
import { urlOf } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_VISION_CONNECTION, BY_ZONE, byText, byTime, overlapsOf, zoneOf } from '../../parts/filters.js';
import { ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { formatSeconds } from '../../parts/values.js';
import { localTime } from '../../parts/zone.rules.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';

const LIVE_MS = 15_000;
const TILES_PER_PAGE = 60;
const HOUR_MS = 3_600_000;
/** Around the window. */
const NEAR = '200px 0px';
/** The picture of the start is often black. */
const SECONDS_IN = 0.5;
const WIDTH = 320;

const FILTERS = [
  BY_VISION_CONNECTION,
  byText('truckId', 'Truck'),
  byText('cameraId', 'Camera'),
  byTime('from', 'From'),
  byTime('to', 'Until'),
  BY_ZONE,
];

/** The stored recordings by truck and hour, each with a picture. The newest first. */
export function RecordingGallery({ query }: PageProps) {
  const zone = zoneOf(query);
  const haulerName = useHaulerName();
  return (
    <ListPage
      path="/recordings"
      query={query}
      filters={FILTERS}
      asked={({ from, to, ...others }) => ({ ...others, overlaps: overlapsOf(from, to), status: 'stored' })}
      pageSize={TILES_PER_PAGE}
      everyMs={LIVE_MS}
      view={(rows) =>
        hoursOf(rows, zone).map(({ key, recordings, first }) => (
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
        ))
      }
      empty={
        <Empty title="No recording is stored yet.">
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

/** The first picture of a file, drawn from its preview when it comes into view. It stays, and the player of the browser goes. */
function Picture({ id }: { id: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isNear, setNear] = useState(false);
  const [state, setState] = useState<'waiting' | 'drawn' | 'unknown'>('waiting');
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting === true), {
      rootMargin: NEAR,
    });
    if (canvas.current !== null) observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  const draw = (video: HTMLVideoElement) => {
    if (canvas.current === null) return;
    canvas.current.height = (WIDTH * video.videoHeight) / video.videoWidth;
    canvas.current.getContext('2d')?.drawImage(video, 0, 0, WIDTH, canvas.current.height);
    setState('drawn');
  };
  return (
    <>
      <canvas ref={canvas} class={`poster ${state}`} width={WIDTH} height={180} aria-hidden="true" />
      {isNear && state === 'waiting' && (
        <video
          hidden
          src={urlOf(`/recordings/${id}/content`, { preview: 'true' })}
          muted
          playsInline
          preload="auto"
          onLoadedData={({ currentTarget: video }) => (video.currentTime = Math.min(SECONDS_IN, video.duration / 2))}
          onSeeked={({ currentTarget: video }) => draw(video)}
          onError={() => setState('unknown')}
        />
      )}
    </>
  );
}
