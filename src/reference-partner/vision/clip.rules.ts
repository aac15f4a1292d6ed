import { formatInstant } from '../../contracts/common/instant.js';
import type { Untrimmed } from './media/trim-process.js';

/** `endTime` excluded. */
export interface TimeRange {
  readonly startTime: Date;
  readonly endTime: Date;
}

/** A recording that is listed whole, although a part of it was asked for. */
export interface ListedWhole {
  readonly startTime: Date;
  readonly reason: Exclude<Untrimmed, 'nothing'>;
}

/**
 * The times of recordings are often whole seconds while the lengths of their files are not, and cameras lose some frames between two
 * files. A shorter gap is not reported.
 */
const MIN_GAP_MS = 1000;

/** More than the message of a request can name. */
const MAX_SENTENCES = 20;

const REASONS: Readonly<Record<ListedWhole['reason'], string>> = {
  'not-copied': 'its pictures or its sound cannot be copied without decoding them',
  unreadable: 'it cannot be read as MP4',
  'too-long': 'reading it took too long',
  'too-large': 'reading it took too much memory',
};

/** The parts of `range` that no clip covers, oldest first. `clips` are sorted by their start. */
export function gapsIn(range: TimeRange, clips: readonly TimeRange[]): TimeRange[] {
  const gaps: TimeRange[] = [];
  let reached = range.startTime;
  for (const { startTime, endTime } of [...clips, { startTime: range.endTime, endTime: range.endTime }]) {
    if (startTime.getTime() - reached.getTime() >= MIN_GAP_MS) gaps.push({ startTime: reached, endTime: startTime });
    if (endTime > reached) reached = endTime;
  }
  return gaps;
}

/** What is missing in the clips of a range, and what is more than was asked for (decision 44); null if there is neither. */
export function messageOf(range: TimeRange, clips: readonly TimeRange[], whole: readonly ListedWhole[]): string | null {
  const sentences = [
    ...gapsIn(range, clips).map(
      ({ startTime, endTime }) => `Nothing was recorded from ${formatInstant(startTime)} to ${formatInstant(endTime)}.`,
    ),
    ...whole.map(
      ({ startTime, reason }) =>
        `The recording that starts at ${formatInstant(startTime)} is listed whole, because it cannot be trimmed: ${REASONS[reason]}.`,
    ),
  ];
  const others = sentences.length - MAX_SENTENCES;
  if (others > 0) sentences.splice(MAX_SENTENCES, others, `${others} more parts are missing or listed whole.`);
  return sentences.length === 0 ? null : sentences.join(' ');
}
