import { useState } from 'preact/hooks';
import { useNow } from '../../client/load.js';
import { Patterns, TOP, TRACK_HEIGHT, TrackDrawing, trackName } from './track-drawing.js';
import { ticksOf } from '../../parts/zone.rules.js';
import { type Cursor, pressTrackKey, useDrag } from './track-input.js';
import { describe, TRACK_STATES, segmentAt, type Selection, STATE_TITLES, type Track } from './coverage.rules.js';

interface TracksProps {
  readonly tracks: readonly Track[];
  readonly from: number;
  readonly to: number;
  readonly zone: string;
  readonly width: number;
  readonly selection: Selection | undefined;
  /** Plays a camera at a moment. */
  readonly onPlay: (camera: string, time: number) => void;
  readonly onSelect: (selection: Selection | undefined) => void;
  readonly onChoose: () => void;
  readonly onRange: (range: readonly [number, number]) => void;
}

/** A track per camera. The cursor follows the mouse or the arrow keys, and its text explains what is there. */
export function Tracks(props: TracksProps) {
  const { tracks, from, to, zone, width, selection } = props;
  const [cursor, setCursor] = useState<Cursor>();
  const text = explain(props, cursor);
  const now = useNow(5_000);
  const play = ({ track, time: at }: Cursor) => {
    const camera = tracks[track]?.camera;
    if (camera !== undefined) props.onPlay(camera, at);
  };
  const x = (time: number) => ((time - from) / (to - from)) * width;
  const height = TOP + tracks.length * TRACK_HEIGHT + 4;
  const drag = useDrag(props, setCursor, play);
  return (
    <>
      <p class="explanation">{text}</p>
      <div
        class="tracks"
        role="slider"
        tabIndex={0}
        aria-label="Time within the shown range. Arrow keys move, with shift they select, plus and minus zoom, space plays, Enter offers to zoom or to request"
        aria-valuemin={from}
        aria-valuemax={to}
        aria-valuenow={cursor?.time ?? from}
        aria-valuetext={text}
        onKeyDown={(event) => {
          if (pressTrackKey(event, props, cursor, setCursor, play)) event.preventDefault();
        }}
      >
        <svg width={width} height={height} role="presentation" {...drag}>
          <Patterns />
          {ticksOf(from, to, zone, Math.floor(width / 90)).map(({ time, label }) => (
            <g key={time}>
              <line class="tick" x1={x(time)} x2={x(time)} y1={16} y2={height} />
              <text class="tick-label" x={Math.min(width - 22, Math.max(22, x(time)))} y={11}>
                {label}
              </text>
            </g>
          ))}
          {tracks.map((track, index) => (
            <TrackDrawing key={track.camera} track={track} index={index} x={x} width={width} />
          ))}
          {selection !== undefined && <SelectionBox tracks={tracks} x={x} selection={selection} />}
          {now >= from && now <= to && <line class="now" x1={x(now)} x2={x(now)} y1={14} y2={height} />}
          {cursor !== undefined && <line class="cursor" x1={x(cursor.time)} x2={x(cursor.time)} y1={14} y2={height} />}
        </svg>
      </div>
      <Legend />
    </>
  );
}

interface SelectionProps {
  readonly tracks: TracksProps['tracks'];
  readonly selection: Selection;
  readonly x: (time: number) => number;
}

function SelectionBox({ tracks, selection, x }: SelectionProps) {
  const index = tracks.findIndex(({ camera }) => camera === selection.camera);
  const width = Math.max(1, x(selection.end) - x(selection.start));
  return (
    <rect
      class="selection"
      x={x(selection.start)}
      y={TOP + index * TRACK_HEIGHT}
      width={width}
      height={TRACK_HEIGHT - 8}
    />
  );
}

/** Drawn in the order in which states are stacked. */
function Legend() {
  return (
    <ul class="legend">
      {TRACK_STATES.map((state) => (
        <li key={state}>
          <svg class="swatch" width="12" height="12" aria-hidden="true">
            <rect width="12" height="12" class={`track-${state}`} />
          </svg>{' '}
          {STATE_TITLES[state]}
        </li>
      ))}
      <li class="hint">
        A click or the space bar plays there; a drag, or shift and arrows and Enter, selects a time to zoom or to
        request; + and − zoom.
      </li>
    </ul>
  );
}

/** The text for the cursor. */
function explain({ tracks, zone }: TracksProps, cursor: Cursor | undefined): string {
  const track = cursor === undefined ? undefined : tracks[cursor.track];
  if (track === undefined || cursor === undefined) return 'Point at a track, or use the arrow keys.';
  const segment = segmentAt(track, cursor.time);
  const time = new Date(cursor.time).toLocaleString(undefined, { timeZone: zone });
  const state = segment === undefined ? 'outside of the range' : describe(segment);
  return `${trackName(track)}, ${time}: ${state}`;
}
