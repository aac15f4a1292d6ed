import { useRef, useState } from 'preact/hooks';
import { change } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { callErrorOf } from '../../client/api.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { ZoneChoice } from '../../parts/filters.js';
import { CsvButton } from '../../parts/csv-button.js';
import { Loadable } from '../../parts/states.js';
import { CameraSentences } from './camera-sentences.js';
import { ClipRequest } from './clip-request.js';
import { Tracks } from './tracks.js';
import { playAt } from './play-at.js';
import { TruckCalendar } from './truck-calendar.js';
import { tracksOf, resolutionOf, type Selection, zoomed } from './coverage.rules.js';
import { useWidth } from '../../parts/width.js';
import { dayOf, rangeText } from '../../parts/zone.rules.js';

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
