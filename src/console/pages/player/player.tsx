import { useEffect, useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import { useAll, useLoad } from '../../client/load.js';
import { overlapsOf, pick, ZoneChoice, zoneOf } from '../../parts/filters.js';
import type { CoverageInterval } from '../../../contracts/admin/coverage.routes.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';
import { change, type PageProps } from '../../client/address.js';
import { type Change, linkTo } from '../../client/links.js';
import { useSession } from '../../client/session.js';
import { Empty } from '../../parts/states.js';
import { camerasOf, type Chunk, chunkAt, chunksOf, gridOf, resumeAt } from './playback.rules.js';
import { PlayerControls } from './player-controls.js';
import { PlayerTile } from './player-tile.js';

/** Loaded before and after the moment that is played. */
const AROUND_MS = 30 * 60_000;

interface LoadedRecordings {
  readonly recordings: readonly StoredRecording[];
  readonly isLoaded: boolean;
  /** The time that is loaded, for a call. */
  readonly range: Readonly<Record<'from' | 'to', string>>;
  /** Loads more before the clock reaches the end of what is loaded. */
  readonly follow: (time: number) => void;
}

/** The stored recordings of a truck around the moment that is played. */
function useRecordingsAround({ connectionId, truckId }: StoredRecording, moment: number): LoadedRecordings {
  const [center, setCenter] = useState(moment);
  const iso = (time: number) => new Date(time).toISOString();
  const range = { from: iso(center - AROUND_MS), to: iso(center + AROUND_MS) };
  const within = { connectionId, truckId, status: 'stored', overlaps: overlapsOf(range.from, range.to) };
  const { data, error } = useAll('/recordings', within);
  // By the latest centre: a picture that plays calls the `follow` of its start, ten times a second.
  const follow = (time: number) => setCenter((now) => (Math.abs(time - now) > AROUND_MS / 2 ? time : now));
  // Without an answer it plays what is loaded; the page reads the recording itself again and shows the error.
  return { recordings: data ?? [], isLoaded: (data ?? error) !== undefined, range, follow };
}

const LIVE_MS = 30_000;

interface FootageFacts {
  /** The name by which the service knows a camera that has several. */
  readonly nameOf: (cameraId: string) => string;
  readonly labelOf: (camera: string) => string;
  /** Why a camera has nothing stored at a moment; undefined where it has, or where that is not known. */
  readonly causeAt: (camera: string, time: number) => string | undefined;
}

/** The names of a truck's cameras, and the reasons of their gaps. */
function useFootageFacts(range: Readonly<Record<'connectionId' | 'truckId' | 'from' | 'to', string>>): FootageFacts {
  const cameras = useLoad('/coverage/summary', range).data?.data ?? [];
  const intervals = (useLoad('/coverage', range, LIVE_MS).data?.data ?? []) as readonly CoverageInterval[];
  const cameraOf = (name: string) => cameras.find(({ names }) => names.includes(name));
  return {
    nameOf: (name) => cameraOf(name)?.cameraId ?? name,
    labelOf: (name) => cameraLabel(name, cameraOf(name)?.names),
    causeAt: (camera, time) =>
      intervals.find(
        ({ cameraId, startTime, endTime, state }) =>
          cameraId === camera && state !== 'stored' && Date.parse(startTime) <= time && time < Date.parse(endTime),
      )?.reason,
  };
}

/** Interval of the clock if no picture sets it. */
const TICK_MS = 100;
/** A shorter gap between two files is no gap to a viewer. */
const SMALL_GAP_MS = 2_000;

type PlayerProps = PageProps & { recording: StoredRecording };

/** Plays a recording and the recordings of the same truck around it. */
export function Player(props: PlayerProps) {
  const { may, refusalOf } = useSession();
  if (may('viewer+video')) return <AllowedPlayer {...props} />;
  return <Empty title="This session may not play video.">{refusalOf('viewer+video')}</Empty>;
}

function AllowedPlayer({ recording, query }: PlayerProps) {
  const [start] = useState(momentOf(recording, query.get('at')));
  const { recordings, isLoaded, range, follow } = useRecordingsAround(recording, start);
  const truck = { connectionId: recording.connectionId, truckId: recording.truckId };
  const { nameOf, labelOf, causeAt } = useFootageFacts({ ...truck, ...range });
  const isListed = recordings.some(({ id }) => id === recording.id);
  const isNear =
    Date.parse(recording.startTime) <= start + AROUND_MS && Date.parse(recording.endTime) >= start - AROUND_MS;
  const chunks = chunksOf(isListed || !isNear ? recordings : [...recordings, recording], nameOf);
  if (isLoaded && chunks.length === 0) {
    return <Empty title="No stored recording of this truck is near this time." />;
  }
  const cameras = camerasOf(chunks);
  const chosen = (query.get('cameras') ?? '').split(',').map(nameOf);
  const isChosen = cameras.some((each) => chosen.includes(each));
  const shown = cameras.filter((each) => (isChosen ? chosen : [nameOf(recording.cameraId)]).includes(each));
  return (
    <section class="card player" aria-label="Player">
      {shown.length > 0 && (
        <Playback
          chunks={chunks}
          cameras={shown}
          first={{ time: start, id: recording.id }}
          zone={zoneOf(query)}
          labelOf={labelOf}
          causeAt={causeAt}
          onTime={follow}
          onRest={(time) => moveAddress(query, { at: new Date(time).toISOString() })}
        />
      )}
      <div class="head">
        <CameraChoice
          cameras={cameras}
          shown={shown}
          labelOf={labelOf}
          onChoose={(next) => moveAddress(query, { cameras: next.join(',') })}
        />
        <a href={linkTo('coverage', { ...truck, ...range, zone: query.get('zone') ?? undefined })}>
          Coverage of this time
        </a>
        <ZoneChoice query={query} />
      </div>
    </section>
  );
}

/** The moment of the address; else the start of the recording. */
function momentOf({ startTime }: StoredRecording, at: string | null): number {
  const moment = Date.parse(at ?? '');
  return Number.isNaN(moment) ? Date.parse(startTime) : moment;
}

/** A link to what is shown now. The page of the list stays, to which the user goes back. */
const moveAddress = (query: URLSearchParams, patch: Change) =>
  change({ ...pick(query, 'page', 'cursor'), ...patch }, { replace: true });

interface CameraChoiceProps {
  readonly cameras: readonly string[];
  readonly shown: readonly string[];
  readonly labelOf: (camera: string) => string;
  readonly onChoose: (cameras: readonly string[]) => void;
}

function CameraChoice({ cameras, shown, labelOf, onChoose }: CameraChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>Cameras</legend>
      {cameras.map((camera) => (
        <label key={camera}>
          <input
            type="checkbox"
            checked={shown.includes(camera)}
            onChange={(event) => onChoose(toggled(shown, camera, event.currentTarget.checked))}
          />{' '}
          {labelOf(camera)}
        </label>
      ))}
    </fieldset>
  );
}

const toggled = (shown: readonly string[], camera: string, isOn: boolean): string[] =>
  isOn ? [...shown, camera] : shown.filter((each) => each !== camera);

interface PlaybackProps {
  readonly chunks: readonly Chunk[];
  readonly cameras: readonly string[];
  readonly first: { readonly time: number; readonly id: string };
  readonly zone: string;
  readonly labelOf: (camera: string) => string;
  /** Why a camera has nothing stored at a moment. */
  readonly causeAt: (camera: string, time: number) => string | undefined;
  /** Called when the clock moves. */
  readonly onTime: (time: number) => void;
  /** Called when the clock stands still. */
  readonly onRest: (time: number) => void;
}

const REST_MS = 400;

function Playback({ chunks, cameras, first, zone, labelOf, causeAt, onTime, onRest }: PlaybackProps) {
  const [time, setTime] = useState(first.time);
  const [isPlaying, setPlaying] = useState(false);
  const [rate, setRate] = useState(1);
  const [unplayable, setUnplayable] = useState<readonly string[]>([]);
  const current = cameras.map((camera) => chunkAt(chunks, camera, time, first.id));
  const leading = current.findIndex((chunk) => chunk !== undefined && !unplayable.includes(chunk.id));
  const next = resumeAt(chunks, cameras, time);
  const isGap = next?.gapMs !== 0;
  const seek = (wanted: number) => {
    setTime(wanted);
    onTime(wanted);
  };
  const moveTo = (wanted: number) => {
    const there = resumeAt(chunks, cameras, wanted);
    const isSmall = there !== undefined && there.gapMs <= SMALL_GAP_MS;
    if (!isSmall) setPlaying(false);
    seek(isSmall ? there.time : wanted);
  };
  const play = (wanted: boolean) => {
    if (wanted && next !== undefined) seek(next.time);
    setPlaying(wanted && next !== undefined);
  };
  // Without a playable picture a timer moves the clock.
  useEffect(() => {
    if (!isPlaying || leading >= 0) return undefined;
    const timer = setInterval(() => moveTo(time + TICK_MS * rate), TICK_MS);
    return () => clearInterval(timer);
  }, [isPlaying, leading, time, rate]);
  useEffect(() => {
    if (isPlaying || time === first.time) return undefined;
    const timer = setTimeout(() => onRest(time), REST_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, time]);
  return (
    <>
      <div class="stage">
        <div class="tiles" style={gridOf(cameras.length)}>
          {cameras.map((camera, index) => (
            <PlayerTile
              key={camera}
              label={labelOf(camera)}
              cameraId={camera}
              cause={current[index] === undefined ? causeAt(camera, time) : undefined}
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
        {isGap && (
          <p class="gap" role="status">
            {next === undefined ? (
              `No recording is stored in the next ${AROUND_MS / 60_000} minutes.`
            ) : (
              <button type="button" class="primary" onClick={() => play(true)}>
                Continue at {timeOfDay(next.time, zone)}
              </button>
            )}
          </p>
        )}
      </div>
      <PlayerControls
        chunks={chunks}
        cameras={cameras}
        time={time}
        isPlaying={isPlaying}
        rate={rate}
        onPlay={play}
        onRate={setRate}
        onSeek={seek}
        zone={zone}
      />
    </>
  );
}

/** With seconds where it is no whole minute. */
const timeOfDay = (time: number, zone: string): string =>
  new Date(time).toLocaleTimeString(undefined, {
    ...{ timeZone: zone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' },
    ...(time % 60_000 === 0 ? {} : { second: '2-digit' }),
  });
