import { useEffect, useState } from 'preact/hooks';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { change, linkTo } from '../client/address.js';
import { Empty } from '../parts/states.js';
import { formatSeconds } from '../parts/values.js';
import { AROUND_MS, useRecordingsAround } from './chunk-loading.js';
import { ZoneChoice, zoneOf } from '../parts/filters.js';
import { camerasOf, type Chunk, chunkAt, chunksOf, resumeAt } from './playback.rules.js';
import { PlayerControls } from './player-controls.js';
import { PlayerTile } from './player-tile.js';

/** Interval of the clock if no picture sets it. */
const TICK_MS = 100;

/** Plays a recording and the recordings of the same truck around it. */
export function Player({ recording, query }: { recording: StoredRecording; query: URLSearchParams }) {
  const start = momentOf(recording, query.get('at'));
  const { recordings, isLoaded, follow } = useRecordingsAround(recording);
  const chunks = chunksOf(recordings.some(({ id }) => id === recording.id) ? recordings : [...recordings, recording]);
  if (isLoaded && chunks.length === 0) {
    return <Empty title="No stored recording of this truck is near this time." />;
  }
  const cameras = camerasOf(chunks);
  const chosen = (query.get('cameras') ?? '').split(',');
  const isChosen = cameras.some((each) => chosen.includes(each));
  const shown = cameras.filter((each) => (isChosen ? chosen.includes(each) : each === recording.cameraId));
  return (
    <section class="card player" aria-label="Player">
      <div class="head">
        <div>
          <h2>
            {recording.truckId}{' '}
            <a class="hint" href={linkTo('coverage', { ...around(recording), zone: query.get('zone') ?? undefined })}>
              coverage of this time
            </a>
          </h2>
          <CameraChoice cameras={cameras} shown={shown} />
        </div>
        <ZoneChoice query={query} />
      </div>
      {shown.length > 0 && (
        <Playback
          chunks={chunks}
          cameras={shown}
          first={{ time: start, id: recording.id }}
          zone={zoneOf(query)}
          onTime={follow}
        />
      )}
    </section>
  );
}

/** The moment of the address, if the recording has it; else its start. */
function momentOf({ startTime, endTime }: StoredRecording, at: string | null): number {
  const [start, end, moment] = [Date.parse(startTime), Date.parse(endTime), Date.parse(at ?? '')];
  return moment >= start && moment < end ? moment : start;
}

function CameraChoice({ cameras, shown }: { cameras: readonly string[]; shown: readonly string[] }) {
  return (
    <fieldset class="choice">
      <legend>Cameras</legend>
      {cameras.map((camera) => (
        <label key={camera}>
          <input
            type="checkbox"
            checked={shown.includes(camera)}
            onChange={(event) => change({ cameras: toggled(shown, camera, event.currentTarget.checked).join(',') })}
          />{' '}
          {camera}
        </label>
      ))}
    </fieldset>
  );
}

/** The truck in the hour around a recording. */
const around = ({ connectionId, truckId, startTime, endTime }: StoredRecording) => ({
  connectionId,
  truckId,
  from: new Date(Date.parse(startTime) - AROUND_MS).toISOString(),
  to: new Date(Date.parse(endTime) + AROUND_MS).toISOString(),
});

const toggled = (shown: readonly string[], camera: string, isOn: boolean): string[] =>
  isOn ? [...shown, camera] : shown.filter((each) => each !== camera);

interface PlaybackProps {
  readonly chunks: readonly Chunk[];
  readonly cameras: readonly string[];
  readonly first: { readonly time: number; readonly id: string };
  readonly zone: string;
  /** Called when the clock moves. */
  readonly onTime: (time: number) => void;
}

function Playback({ chunks, cameras, first, zone, onTime }: PlaybackProps) {
  const [time, setTime] = useState(first.time);
  const [isPlaying, setPlaying] = useState(false);
  const [rate, setRate] = useState(1);
  const [message, setMessage] = useState('');
  const [unplayable, setUnplayable] = useState<readonly string[]>([]);
  const current = cameras.map((camera) => chunkAt(chunks, camera, time, first.id));
  const leading = current.findIndex((chunk) => chunk !== undefined && !unplayable.includes(chunk.id));
  const moveTo = (wanted: number, isStep = false) => {
    const next = isStep ? { time: wanted, gapMs: 0 } : resumeAt(chunks, cameras, wanted);
    if (next === undefined) {
      setPlaying(false);
      setMessage(`No recording is stored in the next ${AROUND_MS / 60_000} minutes.`);
      return;
    }
    if (next.gapMs > 0) setMessage(`Jumped over a gap of ${formatSeconds(Math.round(next.gapMs / 1_000))}.`);
    setTime(next.time);
    onTime(next.time);
  };
  // Without a playable picture a timer moves the clock.
  useEffect(() => {
    if (!isPlaying || leading >= 0) return undefined;
    const timer = setInterval(() => moveTo(time + TICK_MS * rate), TICK_MS);
    return () => clearInterval(timer);
  }, [isPlaying, leading, time, rate]);
  const play = (wanted: boolean) => {
    setMessage('');
    if (wanted) moveTo(time);
    setPlaying(wanted);
  };
  return (
    <>
      <div class="tiles">
        {cameras.map((camera, index) => (
          <PlayerTile
            key={camera}
            cameraId={camera}
            chunk={current[index]}
            time={time}
            isPlaying={isPlaying}
            rate={rate}
            isLeading={index === leading}
            onTime={moveTo}
            onUnplayable={({ id }) => setUnplayable((all) => [...all, id])}
          />
        ))}
      </div>
      <PlayerControls
        chunks={chunks}
        cameras={cameras}
        time={time}
        isPlaying={isPlaying}
        rate={rate}
        onPlay={play}
        onRate={setRate}
        onSeek={(wanted) => moveTo(wanted, true)}
        zone={zone}
      />
      <p class="hint" role="status">
        {message}
      </p>
    </>
  );
}
