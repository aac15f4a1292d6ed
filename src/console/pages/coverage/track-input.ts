import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
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

/** Zooms at the pointer; with shift it moves. A pinch on a touchpad arrives as a wheel as well. */
export function useWheel(element: RefObject<SVGSVGElement | null>, view: View): void {
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const svg = element.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { from, to, width, onRange } = latest.current;
      const length = to - from;
      const delta = Math.sign(event.deltaY !== 0 ? event.deltaY : event.deltaX);
      if (event.shiftKey || event.deltaY === 0) onRange([from + delta * length * 0.1, to + delta * length * 0.1]);
      else onRange(zoomed(from, to, delta < 0 ? 0.8 : 1.25, from + (event.offsetX / width) * length));
    };
    svg?.addEventListener('wheel', onWheel, { passive: false });
    return () => svg?.removeEventListener('wheel', onWheel);
  }, []);
}

/** A click opens a moment, a drag selects a range of one track; two fingers zoom. */
export function useDrag(view: View, setCursor: SetCursor, open: SetCursor) {
  const start = useRef<Cursor & { x: number }>(undefined);
  const fingers = useRef(new Map<number, number>());
  const cursorAt = (event: PointerEvent): Cursor => {
    const { from, to, width, tracks } = view;
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / width));
    const track = Math.floor((event.clientY - box.top - TOP) / TRACK_HEIGHT);
    return { track: Math.min(tracks.length - 1, Math.max(0, track)), time: Math.round(from + share * (to - from)) };
  };
  const pinch = (event: PointerEvent) => {
    const before = distance(fingers.current);
    fingers.current.set(event.pointerId, event.clientX);
    const after = distance(fingers.current);
    const middle = (view.from + view.to) / 2;
    if (before > 20 && after > 20) view.onRange(zoomed(view.from, view.to, before / after, middle));
  };
  const lift = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
    start.current = undefined;
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      fingers.current.set(event.pointerId, event.clientX);
      start.current = fingers.current.size > 1 ? undefined : { ...cursorAt(event), x: event.clientX };
    },
    onPointerMove: (event: PointerEvent) => {
      if (fingers.current.size > 1) return pinch(event);
      const cursor = cursorAt(event);
      setCursor(cursor);
      const from = start.current;
      if (from === undefined || Math.abs(event.clientX - from.x) < MIN_DRAG_PIXELS) return;
      view.onSelect(selectionOf(view, from, cursor.time));
    },
    onPointerUp: (event: PointerEvent) => {
      const pressed = start.current;
      lift(event);
      if (pressed !== undefined && Math.abs(event.clientX - pressed.x) < MIN_DRAG_PIXELS) open(cursorAt(event));
    },
    onPointerLeave: lift,
  };
}

/** Between the outermost fingers, in pixels. */
function distance(fingers: ReadonlyMap<number, number>): number {
  const places = [...fingers.values()];
  return Math.max(...places) - Math.min(...places);
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
