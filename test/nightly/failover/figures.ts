import type { Answer, Load } from './load.js';
import type { Outage } from './watch.js';

/** How long after the outage a gap may begin that still belongs to it. */
const TAIL_MS = 15_000;

/** One case of one run. Seconds are counted from the fault. */
export interface Figures {
  readonly case: string;
  /** Until an independent client could commit an insert through the same path. */
  readonly writable: number;
  /** Until each instance acknowledged pushes again, the later one. */
  readonly taken: number;
  readonly acknowledged: number;
  readonly answers503: number;
  /** Elements that were not acknowledged at once. */
  readonly refused: number;
}

export interface Fault {
  readonly name: string;
  readonly at: number;
  /** The first element that was sent for this case. */
  readonly firstElement: number;
}

export function figuresOf(fault: Fault, outage: Outage, load: Load, instances: number): Figures {
  const since = load.answers.filter(({ at }) => at > fault.at);
  const ends = Array.from({ length: instances }, (_, i) =>
    endOfGap(
      since.filter(({ instance, status }) => instance === i && status === 200),
      fault,
      outage,
    ),
  );
  const seconds = (at: number) => Math.round((at - fault.at) / 100) / 10;
  return {
    case: fault.name,
    writable: seconds(outage.endedAt),
    taken: seconds(Math.max(...ends)),
    acknowledged: since.filter(({ status }) => status === 200).length,
    answers503: since.filter(({ status }) => status === 503).length,
    refused: load.elements.slice(fault.firstElement).filter(({ tries }) => tries > 1).length,
  };
}

/** The end of the longest time without an acknowledged push. */
function endOfGap(taken: readonly Answer[], fault: Fault, outage: Outage): number {
  let [before, longest, end] = [fault.at, 0, Infinity];
  for (const { at } of taken) {
    if (before > outage.endedAt + TAIL_MS) break;
    if (at - before > longest) [longest, end] = [at - before, at];
    before = at;
  }
  return end;
}
