import { useRef } from 'preact/hooks';
import { TRACK_HEIGHT, TOP } from './track-drawing.js';
import { type Track, type Selection, zoomed } from './coverage.rules.js';

/** A moment of one track. */
export interface Cursor {
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
export function useDrag(view: View, setCursor: SetCursor, open: SetCursor) {
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
export function pressTrackKey(
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
