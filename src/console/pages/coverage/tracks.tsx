import { useRef, useState } from 'preact/hooks';
import { Patterns, TOP, TRACK_HEIGHT, TrackDrawing, trackName } from './track-drawing.js';
import {
  describe,
  segmentAt,
  type Selection,
  STATE_TITLES,
  type Track,
  TRACK_STATES,
  zoomed,
} from './coverage.rules.js';
import { useNow } from '../../client/load.js';
import { ticksOf, wholeTime } from '../../parts/zone.rules.js';

/** A moment of one track. */
interface Cursor {
  readonly track: number;
  readonly time: number;
}

interface View {
  readonly tracks: readonly Track[];
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly selection: Selection | undefined;
  readonly onSelect: (selection: Selection | undefined) => void;
  /** Moves to the choice of what to do with the selection. */
  readonly onChoose: () => void;
  readonly onRange: (range: readonly [number, number]) => void;
}

type SetCursor = (cursor: Cursor) => void;

const MINUTE_MS = 60_000;
/** A shorter drag is a click. */
const MIN_DRAG_PIXELS = 4;

/** A click opens a moment, a drag selects a range of one track. */
function useDrag(view: View, setCursor: SetCursor, open: SetCursor) {
  const start = useRef<Cursor & { x: number }>(undefined);
  const cursorAt = (event: PointerEvent): Cursor => {
    const { from, to, width, tracks } = view;
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / width));
    const track = Math.floor((event.clientY - box.top - TOP) / TRACK_HEIGHT);
    return { track: Math.min(tracks.length - 1, Math.max(0, track)), time: Math.round(from + share * (to - from)) };
  };
  return {
    onPointerDown: (event: PointerEvent) => (start.current = { ...cursorAt(event), x: event.clientX }),
    onPointerMove: (event: PointerEvent) => {
      const cursor = cursorAt(event);
      setCursor(cursor);
      const from = start.current;
      if (from === undefined || Math.abs(event.clientX - from.x) < MIN_DRAG_PIXELS) return;
      view.onSelect(selectionOf(view, from, cursor.time));
    },
    onPointerUp: (event: PointerEvent) => {
      const pressed = start.current;
      start.current = undefined;
      if (pressed !== undefined && Math.abs(event.clientX - pressed.x) < MIN_DRAG_PIXELS) open(cursorAt(event));
    },
    onPointerLeave: () => (start.current = undefined),
  };
}

/** Whole seconds, at least one. */
function selectionOf({ tracks }: View, { track, time }: Cursor, other: number): Selection | undefined {
  const camera = tracks[track]?.camera;
  if (camera === undefined) return undefined;
  const start = Math.floor(Math.min(time, other) / 1_000) * 1_000;
  return { camera, start, end: Math.max(start + 1_000, Math.ceil(Math.max(time, other) / 1_000) * 1_000) };
}

/** Executes the command of a key. Returns false for a key without one. */
function pressTrackKey(
  event: KeyboardEvent,
  view: View,
  last: Cursor | undefined,
  setCursor: SetCursor,
  onPlay: SetCursor,
): boolean {
  const { tracks, from, to, selection, onSelect, onChoose, onRange } = view;
  const step = (to - from) / 100;
  const cursor = last ?? { track: 0, time: Math.round((from + to) / 2) };
  const move = (track: number, time: number) => {
    const next = {
      track: Math.min(tracks.length - 1, Math.max(0, track)),
      time: Math.min(to - 1, Math.max(from, time)),
    };
    setCursor(next);
    const anchor = selection?.start ?? cursor.time;
    if (event.shiftKey && time !== cursor.time) onSelect(selectionOf(view, { ...cursor, time: anchor }, next.time));
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(cursor.track, cursor.time - step),
    ArrowRight: () => move(cursor.track, cursor.time + step),
    ArrowUp: () => move(cursor.track - 1, cursor.time),
    ArrowDown: () => move(cursor.track + 1, cursor.time),
    PageUp: () => onRange([from - (to - from) / 2, to - (to - from) / 2]),
    PageDown: () => onRange([from + (to - from) / 2, to + (to - from) / 2]),
    '+': () => onRange(zoomed(from, to, 0.5, cursor.time)),
    '-': () => onRange(zoomed(from, to, 2, cursor.time)),
    Enter: () => {
      if (selection === undefined) onSelect(selectionOf(view, cursor, cursor.time + MINUTE_MS));
      onChoose();
    },
    ' ': () => onPlay(cursor),
    Escape: () => onSelect(undefined),
  };
  const command = keys[event.key];
  command?.();
  return command !== undefined;
}

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
  const state = segment === undefined ? 'outside of the range' : describe(segment);
  return `${trackName(track)}, ${wholeTime(cursor.time, zone)}: ${state}`;
}
