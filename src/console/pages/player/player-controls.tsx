import { useEffect, useRef } from 'preact/hooks';
import { Options } from '../../parts/forms.js';
import { ticksOf, wholeTime } from '../../parts/zone.rules.js';
import type { Chunk } from './playback.rules.js';

/** Of a phone, in pixels. */
const NARROW = 760;
const FRAME_MS = 40;
const JUMP_MS = 10_000;
const STEPS = [
  ['−10 s', -JUMP_MS],
  ['+10 s', JUMP_MS],
  ['Previous frame', -FRAME_MS],
  ['Next frame', FRAME_MS],
] as const;
const RATES = [0.5, 1, 2, 4, 8];

interface ControlsProps {
  readonly chunks: readonly Chunk[];
  readonly cameras: readonly string[];
  readonly time: number;
  readonly isPlaying: boolean;
  readonly rate: number;
  readonly onPlay: (isPlaying: boolean) => void;
  readonly onRate: (rate: number) => void;
  readonly onSeek: (time: number) => void;
  /** The time zone in which times are shown. */
  readonly zone: string;
}

export function PlayerControls(props: ControlsProps) {
  const { time, isPlaying, rate, onPlay, onRate, onSeek, zone } = props;
  const step = (milliseconds: number) => {
    if (Math.abs(milliseconds) === FRAME_MS) onPlay(false);
    onSeek(time + milliseconds);
  };
  useKeys({
    ' ': () => onPlay(!isPlaying),
    ArrowLeft: () => step(-JUMP_MS),
    ArrowRight: () => step(JUMP_MS),
    ',': () => step(-FRAME_MS),
    '.': () => step(FRAME_MS),
  });
  return (
    <>
      <Timeline {...props} />
      <div class="actions controls">
        <button type="button" class="primary" onClick={() => onPlay(!isPlaying)}>
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        {STEPS.map(([label, milliseconds]) => (
          <button key={label} type="button" onClick={() => step(milliseconds)}>
            {label}
          </button>
        ))}
        <label class="inline">
          Speed{' '}
          <select value={rate} onChange={(event) => onRate(Number(event.currentTarget.value))}>
            <Options choices={RATES.map((each) => [String(each), `${each}×`])} />
          </select>
        </label>
        <span class="clock">{wholeTime(time, zone)}</span>
      </div>
      <p class="hint keys">
        Keys: the space bar plays and pauses, the arrows jump 10 s, comma and full stop step one frame.
      </p>
    </>
  );
}

/** The recordings of the shown cameras; a slider moves the clock. */
function Timeline({ chunks, cameras, time, onSeek, zone }: ControlsProps) {
  const shown = chunks.filter(({ cameraId }) => cameras.includes(cameraId));
  const start = Math.min(time, ...shown.map((chunk) => chunk.start));
  const end = Math.max(time + 1_000, ...shown.map((chunk) => chunk.end));
  const share = (moment: number) => `${((moment - start) / (end - start)) * 100}%`;
  return (
    <div class="timeline">
      {cameras.map((camera) => (
        <div key={camera} class="track" aria-hidden="true">
          {shown
            .filter(({ cameraId }) => cameraId === camera)
            .map((chunk) => (
              <span
                key={chunk.id}
                class="stored"
                style={{ left: share(chunk.start), width: `calc(${share(start + chunk.end - chunk.start)} - 1px)` }}
              />
            ))}
        </div>
      ))}
      <div class="time-scale" aria-hidden="true">
        {ticksOf(start, end, zone, innerWidth < NARROW ? 5 : 10).map(({ time: at, label }) => (
          <span key={at} style={{ left: share(at) }}>
            {label}
          </span>
        ))}
      </div>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={wholeTime(time, zone)}
        min={start}
        max={end}
        step={1_000}
        value={time}
        onInput={(event) => onSeek(Number(event.currentTarget.value))}
      />
    </div>
  );
}

/** Whether a control uses the key itself: one for text takes all of them, a slider the arrows, a button the space bar. */
function isTaken(target: Element, key: string): boolean {
  if (target.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=range])')) return true;
  if (key === ' ') return target.matches('button, a, summary, input');
  return key.startsWith('Arrow') && target.matches('input');
}

/** Keys of the page, except those that the control with the focus uses. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : document.body;
      const work = latest.current[event.key];
      if (work === undefined || event.ctrlKey || event.metaKey || event.altKey || isTaken(target, event.key)) return;
      event.preventDefault();
      work();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
