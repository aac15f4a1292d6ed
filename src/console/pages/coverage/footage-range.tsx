import type { CoverageInterval } from '../../../contracts/admin/coverage.dto.js';
import type { FootageFlow, FootageRange } from '../../../contracts/admin/footage.dto.js';
import { cameraLabel, timeText } from './coverage-sentence.rules.js';
import { secondsOf } from './footage.rules.js';

interface RangeProps {
  readonly range: FootageRange;
  /** Of all ranges. */
  readonly coverage: readonly CoverageInterval[];
  readonly zone: string;
  /** The page of the coverage at this time. */
  readonly href: string;
}

/** What is stored of each camera around a weighing. */
export function FootageRangeView({ range, coverage, zone, href }: RangeProps) {
  const [from, to] = [Date.parse(range.startTime), Date.parse(range.endTime)];
  const within = coverage.filter(({ startTime }) => Date.parse(startTime) >= from && Date.parse(startTime) < to);
  const cameras = [...Map.groupBy(within, ({ cameraId }) => cameraId ?? 'all cameras')];
  return (
    <div class="footage-range">
      <h3>
        {range.flows.map((flow) => weighingText(flow, zone)).join(', ')}{' '}
        <a class="hint" href={href}>
          coverage of {new Date(from).toLocaleDateString(undefined, { timeZone: zone, dateStyle: 'medium' })}
        </a>
      </h3>
      <ul>
        {cameras.map(([camera, intervals]) => (
          <li key={camera}>{cameraText(camera, intervals)}</li>
        ))}
      </ul>
    </div>
  );
}

function weighingText({ flow, ticketNumber, time }: FootageFlow, zone: string): string {
  const at = new Date(time).toLocaleTimeString(undefined, { timeZone: zone, timeStyle: 'medium' });
  return `${flow === 'inbound' ? 'Inbound' : 'Outbound'} ${ticketNumber} at ${at}`;
}

function cameraText(camera: string, intervals: readonly CoverageInterval[]): string {
  const { stored, available, lost, unread, none } = secondsOf(intervals);
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
