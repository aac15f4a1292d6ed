import { type Track, TRACK_STATES, type Segment } from './coverage.rules.js';

export const TOP = 22;
/** With the name above. */
export const TRACK_HEIGHT = 62;
const NAME_HEIGHT = 20;
const BAR_HEIGHT = 32;

/** Patterns, so that states differ without colour as well. */
export function Patterns() {
  return (
    <defs>
      <pattern id="available" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="7" height="7" class="pattern-back available" />
        <rect width="3" height="7" class="pattern-front available" />
      </pattern>
      <pattern id="expired" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" class="pattern-back expired" />
        <circle cx="3" cy="3" r="1.7" class="pattern-front expired" />
      </pattern>
      <pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" class="pattern-back failed" />
        <path d="M0 0 6 6M6 0 0 6" class="pattern-line failed" />
      </pattern>
      <pattern id="unread" width="8" height="8" patternUnits="userSpaceOnUse">
        <rect width="8" height="8" class="track-none" />
        <path d="M0 4h5" class="pattern-line unread" />
      </pattern>
    </defs>
  );
}

/** A number alone does not say that it is a camera. */
export const trackName = ({ camera }: Track): string => (/^\d+$/.test(camera) ? `camera ${camera}` : camera);

interface TrackDrawingProps {
  readonly track: Track;
  readonly index: number;
  readonly x: (time: number) => number;
  readonly width: number;
}

export function TrackDrawing({ track, index, x, width }: TrackDrawingProps) {
  const top = TOP + index * TRACK_HEIGHT;
  return (
    <g>
      <text class="track-name" x="0" y={top + 13}>
        {trackName(track)}
      </text>
      {track.segments.map((segment) => (
        <Bar key={segment.start} segment={segment} x={x} top={top + NAME_HEIGHT} />
      ))}
      <rect class="track-frame" x="0.5" y={top + NAME_HEIGHT} width={Math.max(0, width - 1)} height={BAR_HEIGHT} />
    </g>
  );
}

/** The states of a segment, stacked by their shares. */
function Bar({ segment, x, top }: { segment: Segment; x: (time: number) => number; top: number }) {
  const [left, right] = [x(segment.start), x(segment.end)];
  const states = TRACK_STATES.filter((state) => (segment.shares[state] ?? 0) > 0);
  let bottom = top + BAR_HEIGHT;
  return (
    <>
      {states.map((state) => {
        const height = (segment.shares[state] ?? 0) * BAR_HEIGHT;
        bottom -= height;
        const width = Math.max(0.6, right - left);
        return <rect key={state} class={`track-${state}`} x={left} y={bottom} width={width} height={height} />;
      })}
    </>
  );
}
