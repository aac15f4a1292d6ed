import type { CoverageInterval } from '../../../contracts/admin/coverage.dto.js';
import type { FootageFlow, FootageRange, TicketFootage } from '../../../contracts/admin/footage.dto.js';
import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';

/** The reasons for which a clip may be requested nevertheless. */
const OPEN_REASONS: readonly TicketFootage['reasonCode'][] = [undefined, 'unknownTruck'];

const isMissing = ({ state, cause }: CoverageInterval): boolean =>
  (state === 'missing' || state === 'expired') && cause !== 'future';

/** Whether something is missing that no open request asks for. The service decides what exactly. */
export function canRequest({ reasonCode, coverage, requests }: TicketFootage): boolean {
  if (!OPEN_REASONS.includes(reasonCode)) return false;
  const open = requests.filter(({ status }) => !['failed', 'expired'].includes(status));
  return coverage.some(
    (interval) =>
      isMissing(interval) &&
      !open.some(
        ({ cameraId, startTime, endTime }) =>
          cameraId === interval.cameraId &&
          Date.parse(startTime) <= Date.parse(interval.startTime) &&
          Date.parse(endTime) >= Date.parse(interval.endTime),
      ),
  );
}

const contains = ({ startTime, endTime }: StoredRecording, time: number): boolean =>
  Date.parse(startTime) <= time && time < Date.parse(endTime);

/** The stored recording at a moment, or the one that is nearest to it. */
export function recordingAt(stored: readonly StoredRecording[], moment: string): StoredRecording | undefined {
  const time = Date.parse(moment);
  const distance = ({ startTime, endTime }: StoredRecording) =>
    Math.max(Date.parse(startTime) - time, time - Date.parse(endTime), 0);
  return stored.find((each) => contains(each, time)) ?? stored.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The weighings with stored footage in their range, those first that were recorded themselves. */
export function momentsOf(ranges: readonly FootageRange[], stored: readonly StoredRecording[]): FootageFlow[] {
  const flows = ranges
    .filter(({ startTime, endTime }) =>
      stored.some((each) => Date.parse(each.startTime) < Date.parse(endTime) && each.endTime > startTime),
    )
    .flatMap((range) => range.flows);
  const isRecorded = ({ time }: FootageFlow) => stored.some((each) => contains(each, Date.parse(time)));
  return flows.toSorted((a, b) => Number(isRecorded(b)) - Number(isRecorded(a)));
}
