import { useLoad, useNow } from '../../client/load.js';
import { Loadable } from '../../parts/states.js';
import { sentenceOf } from './coverage-sentence.rules.js';
import type { RefObject } from 'preact';
import { change, open } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { callErrorOf, get, send } from '../../client/api.js';
import { ActionButton } from '../../parts/forms.js';
import { formatSeconds } from '../../parts/values.js';
import { resolutionOf, type Selection, tracksOf, zoomed } from './coverage.rules.js';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import { overlapsOf, ZoneChoice } from '../../parts/filters.js';
import { useRef, useState } from 'preact/hooks';
import { useSession } from '../../client/session.js';
import { CsvButton } from '../../parts/listing.js';
import { Tracks } from './tracks.js';
import { TruckCalendar } from './truck-calendar.js';
import { useWidth } from '../../parts/bars.js';
import { dayOf, rangeText, wholeTime } from '../../parts/zone.rules.js';

const SENTENCES_MS = 30_000;

interface CameraSentencesProps {
  /** The truck and the time, for the call. */
  readonly range: Readonly<Record<'connectionId' | 'truckId' | 'from' | 'to', string>>;
  readonly zone: string;
}

/** What is missing of each camera, why and whose part it is: the worst camera first. */
export function CameraSentences({ range, zone }: CameraSentencesProps) {
  const summary = useLoad('/coverage/summary', range, SENTENCES_MS);
  return (
    <Loadable of={summary}>
      {({ data }) => (
        <ul class="cameras" aria-label="Cameras">
          {data.map((camera) => {
            const { text, sides, isBad } = sentenceOf(camera, (time) => wholeTime(time, zone));
            return (
              <li key={camera.cameraId ?? ''} class={isBad ? 'bad' : ''}>
                {text} {sides !== '' && <span class="hint">{sides}</span>}
              </li>
            );
          })}
        </ul>
      )}
    </Loadable>
  );
}

interface ClipRequestProps {
  readonly connectionId: string;
  readonly truckId: string;
  readonly selection: Selection;
  readonly zone: string;
  readonly onClose: () => void;
  readonly onZoom: (range: readonly [number, number]) => void;
  /** Receives the panel, to which the keyboard goes. */
  readonly panel: RefObject<HTMLDivElement | null>;
}

/** What to do with the selected time: zoom, or ask the partner for its clip. */
function ClipRequest({ connectionId, truckId, selection, zone, onClose, onZoom, panel }: ClipRequestProps) {
  const { camera, start } = selection;
  const now = useNow(1_000);
  const isFuture = start >= now;
  // Nothing is recorded of what is still to come.
  const end = isFuture
    ? selection.end
    : Math.max(start + 1_000, Math.min(selection.end, Math.floor(now / 1_000) * 1_000));
  const [startTime, endTime] = [start, end].map((time) => new Date(time).toISOString()) as [string, string];
  // Its page shows how the request fares, until its file can be played.
  const order = async () => {
    const body = { connectionId, truckId, cameraId: camera, startTime, endTime };
    open(linkTo('clips', { id: (await send('POST', '/video-requests', body)).id }));
  };
  return (
    <div
      class="notice"
      role="group"
      aria-label="Clip of the selected range"
      ref={panel}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <p>
        Camera <strong>{camera}</strong>, {wholeTime(start, zone)} to {wholeTime(end, zone)},{' '}
        {formatSeconds(Math.round((end - start) / 1_000))}
      </p>
      {isFuture && <p role="status">This time is still to come: no camera has recorded it yet.</p>}
      {!isFuture && end < selection.end && (
        <p class="hint">Until now: the rest of the selected time is still to come.</p>
      )}
      <p class="actions">
        <button type="button" onClick={() => onZoom([start, selection.end])}>
          Zoom to this time
        </button>
        {!isFuture && <ActionButton label="Request the clip" kind="primary" work={order} />}
        <button type="button" onClick={onClose}>
          Clear the selection
        </button>
      </p>
    </div>
  );
}

interface Moment {
  readonly connectionId: string;
  readonly truckId: string;
  /** The track that was clicked. */
  readonly camera: string;
  readonly cameras: readonly string[];
  readonly time: number;
  /** Milliseconds around the click within which the nearest recording is played: tracks of a month show no single one. */
  readonly slack: number;
  readonly zone: string;
}

/**
 * Plays all cameras of the truck at a moment: where the clicked one has a recording, where another one has, or where the
 * clicked one has the nearest. Returns a sentence if nothing is near.
 */
async function playAt(moment: Moment): Promise<string> {
  const { camera, cameras, time, slack, zone } = moment;
  const found =
    (await recordingsIn(moment, time, time + 1, camera))[0] ??
    (await recordingsIn(moment, time, time + 1))[0] ??
    nearest(await recordingsIn(moment, time - slack, time + slack, camera), time);
  if (found === undefined) return `Nothing of ${camera} is stored near this time.`;
  const start = distanceOf(found, time) > 0 ? Date.parse(found.startTime) : time;
  const shown = [camera, ...cameras.filter((each) => each !== camera)].join(',');
  open(linkTo('recordings', { play: found.id, at: new Date(start).toISOString(), cameras: shown, zone }));
  return '';
}

async function recordingsIn({ connectionId, truckId }: Moment, from: number, to: number, cameraId?: string) {
  const [start, end] = [from, to].map((time) => new Date(time).toISOString());
  const filters = {
    connectionId,
    truckId,
    cameraId,
    status: 'stored',
    overlaps: overlapsOf(start, end),
    pageSize: 100,
  };
  return (await get('/recordings', filters)).data;
}

const distanceOf = ({ startTime, endTime }: StoredRecording, time: number): number =>
  Math.max(Date.parse(startTime) - time, time - Date.parse(endTime) + 1, 0);

const nearest = (recordings: readonly StoredRecording[], time: number): StoredRecording | undefined =>
  recordings.toSorted((one, other) => distanceOf(one, time) - distanceOf(other, time))[0];

const LIVE_MS = 10_000;
/** Around a click beside a recording. */
const NEAR_MS = 15 * 60_000;
/** Of the page, in pixels. */
const MAX_WIDTH = 1_440;

interface TruckCoverageProps {
  readonly truckId: string;
  readonly connectionId: string;
  readonly query: URLSearchParams;
  readonly zone: string;
}

const iso = (time: number): string => new Date(time).toISOString();

/** The cameras of a truck over a range of time, which the user zooms. */
export function TruckCoverage({ truckId, connectionId, query, zone }: TruckCoverageProps) {
  const { may } = useSession();
  const [from, to] = rangeOf(query, zone);
  const [width, ruler] = useWidth();
  const [selection, setSelection] = useState<Selection>();
  const [message, setMessage] = useState('');
  const panel = useRef<HTMLDivElement>(null);
  const truck = { connectionId, truckId };
  const range = { ...truck, from: iso(from), to: iso(to) };
  // By the width of the window, so that the call does not wait for the layout of the page.
  const resolution = resolutionOf(from, to, Math.min(innerWidth, MAX_WIDTH));
  const coverage = useLoad('/coverage', { ...range, resolution }, LIVE_MS);
  const show = ([start, end]: readonly [number, number]) =>
    change({ from: iso(start), to: iso(end) }, { replace: true });
  return (
    <section class="card" aria-label="Truck">
      <div ref={ruler} />
      <div class="head">
        <h2>
          {truckId} <span class="range">{rangeText(from, to, zone)}</span>
        </h2>
        <ZoneChoice query={query} />
      </div>
      <div class="truck-state">
        <CameraSentences range={range} zone={zone} />
        <TruckCalendar truck={truck} query={query} zone={zone} from={from} />
      </div>
      <RangeButtons from={from} to={to} zone={zone} onRange={show} />
      <Loadable of={coverage}>
        {({ data }) =>
          width !== undefined && (
            <Tracks
              tracks={tracksOf(data)}
              from={from}
              to={to}
              zone={zone}
              width={width}
              selection={selection}
              onSelect={(next) => {
                setMessage('');
                setSelection(next);
              }}
              // After the panel is drawn.
              onChoose={() => setTimeout(() => panel.current?.querySelector('button')?.focus())}
              onPlay={(camera, time) => {
                const cameras = tracksOf(data).map((track) => track.camera);
                playAt({ ...truck, camera, cameras, time, zone, slack: Math.max(NEAR_MS, ((to - from) / width) * 4) })
                  .then(setMessage)
                  .catch((error: unknown) => setMessage(callErrorOf(error).message));
              }}
              onRange={show}
            />
          )
        }
      </Loadable>
      {message !== '' && (
        <p class="notice" role="status">
          {message}
        </p>
      )}
      {selection !== undefined && (
        <ClipRequest
          key={`${selection.start}`}
          connectionId={connectionId}
          truckId={truckId}
          selection={selection}
          zone={zone}
          onClose={() => setSelection(undefined)}
          onZoom={(next) => {
            setSelection(undefined);
            show(next);
          }}
          panel={panel}
        />
      )}
      <CsvButton path="/coverage" filters={range} />
      <p class="actions">
        <a class="button" href={linkTo('clips', range)}>
          Clip requests of this range
        </a>
        {may('operator') && (
          <a class="button" href={linkTo('holds', { new: 1, ...range })}>
            Hold this range
          </a>
        )}
      </p>
    </section>
  );
}

function rangeOf(query: URLSearchParams, zone: string): readonly [number, number] {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  return from !== undefined && to !== undefined && from < to ? [from, to] : dayOf(Date.now(), zone);
}

interface RangeProps {
  readonly from: number;
  readonly to: number;
  readonly zone: string;
  readonly onRange: (range: readonly [number, number]) => void;
}

function RangeButtons({ from, to, zone, onRange }: RangeProps) {
  const shift = (direction: number) => onRange([from + direction * (to - from), to + direction * (to - from)]);
  const middle = (from + to) / 2;
  const buttons: Readonly<Record<string, () => void>> = {
    Earlier: () => shift(-1),
    Later: () => shift(1),
    'Zoom in': () => onRange(zoomed(from, to, 0.5, middle)),
    'Zoom out': () => onRange(zoomed(from, to, 2, middle)),
    Today: () => onRange(dayOf(Date.now(), zone)),
  };
  return (
    <div class="actions">
      {Object.entries(buttons).map(([label, show]) => (
        <button key={label} type="button" onClick={show}>
          {label}
        </button>
      ))}
    </div>
  );
}
