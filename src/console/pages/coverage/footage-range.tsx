import type { CoverageInterval } from '../../../contracts/admin/coverage.dto.js';
import type { FootageFlow, FootageRange } from '../../../contracts/admin/footage.dto.js';
import type { VideoRequest } from '../../../contracts/admin/video-request.dto.js';
import { useWidth } from '../../parts/width.js';
import { tracksOf } from './coverage.rules.js';
import { cameraLabel, timeText } from './coverage-sentence.rules.js';
import { secondsOf } from './footage.rules.js';
import { TracksPicture } from './track-drawing.js';

interface RangeProps {
  readonly range: FootageRange;
  /** Of all ranges. */
  readonly coverage: readonly CoverageInterval[];
  readonly requests: readonly VideoRequest[];
  readonly zone: string;
  /** The page of the coverage at this time. */
  readonly href: string;
}

/** The coverage around a weighing as tracks, with the moment of the weighing, and in words. */
export function FootageRangeView({ range, coverage, requests, zone, href }: RangeProps) {
  const [width, ruler] = useWidth();
  const [from, to] = [Date.parse(range.startTime), Date.parse(range.endTime)];
  const within = coverage.filter(({ startTime }) => Date.parse(startTime) >= from && Date.parse(startTime) < to);
  const tracks = tracksOf(within);
  const day = new Date(from).toLocaleDateString(undefined, { timeZone: zone, dateStyle: 'medium' });
  return (
    <div class="footage-range">
      <h3>
        {range.flows.map((flow) => weighingText(flow, zone)).join(', ')}{' '}
        <a class="hint" href={href}>
          coverage of {day}
        </a>
      </h3>
      <ul class="footage-cameras">
        {tracks.map(({ camera }) => (
          <li key={camera}>{cameraText(camera, within)}</li>
        ))}
      </ul>
      <div ref={ruler} />
      {width !== undefined && (
        <TracksPicture
          class="footage-tracks"
          role="img"
          aria-label={`Coverage of ${tracks.length} cameras, with a line at each weighing`}
          {...{ tracks, from, to, zone, width }}
          requests={requests.filter(
            ({ startTime, endTime }) => Date.parse(startTime) < to && Date.parse(endTime) > from,
          )}
          marks={(x, height) =>
            range.flows.map(({ flow, time }) => (
              <g key={flow} class="weighing">
                <line x1={x(Date.parse(time))} x2={x(Date.parse(time))} y1={14} y2={height} />
                <path d={`M${x(Date.parse(time)) - 6} 13h12l-6 9z`} />
              </g>
            ))
          }
        />
      )}
    </div>
  );
}

function weighingText({ flow, ticketNumber, time }: FootageFlow, zone: string): string {
  const at = new Date(time).toLocaleTimeString(undefined, { timeZone: zone, timeStyle: 'medium' });
  return `${flow === 'inbound' ? 'Inbound' : 'Outbound'} ${ticketNumber} at ${at}`;
}

function cameraText(camera: string, within: readonly CoverageInterval[]): string {
  const { stored, available, lost, unread, none } = secondsOf(
    within.filter(({ cameraId }) => (cameraId ?? 'all cameras') === camera),
  );
  const parts = [
    [stored, 'stored'],
    [available, 'on its way'],
    [lost, 'lost'],
    [none, 'not recorded'],
    [unread, 'not known'],
  ] as const;
  const texts = parts.flatMap(([seconds, word]) => (seconds > 0 ? `${timeText(seconds)} ${word}` : []));
  return `${cameraLabel(camera)}: ${texts.join(', ')}`;
}
