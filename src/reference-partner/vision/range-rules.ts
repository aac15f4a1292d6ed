import { type Instant, microsBetween } from '../../contracts/common/instant.js';
import type { CreateVideoRequest } from '../../contracts/vision/vision.dto.js';
import { invalid } from '../../errors/app-error.js';

const MINUTE_MICROS = 60_000_000;

/** Decision 42: the end comes after the start. */
export function assertOrder(startTime: Instant | undefined, endTime: Instant | undefined): void {
  if (startTime === undefined || endTime === undefined || startTime < endTime) return;
  throw invalidRange('endTime must be after startTime');
}

/** Decision 42: nor is a clip longer than so many minutes. */
export function assertClipRange({ startTime, endTime }: CreateVideoRequest, longestMinutes: number): void {
  assertOrder(startTime, endTime);
  if (microsBetween(startTime, endTime) <= longestMinutes * MINUTE_MICROS) return;
  throw invalidRange(`endTime must be at most ${longestMinutes} minutes after startTime`);
}

function invalidRange(message: string) {
  return invalid([{ path: 'endTime', rule: 'isRange', message }]);
}
