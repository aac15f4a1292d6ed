import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Load } from './load.js';
import { LOGS } from './programs.js';
import type { Scene } from './scene.js';
import type { Outage } from './watch.js';

/** Where the figures of a run are written, for docs/engineering/failover.md. */
const FILE = process.env['FAILOVER_FIGURES'];
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
  lost: number;
  doubled: number;
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
    lost: 0,
    doubled: 0,
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

export function writeFigures(figures: readonly Figures[]): void {
  if (FILE !== undefined) writeFileSync(FILE, JSON.stringify(figures));
}

/** Beside the logs of the programs: those of the instances, when each fault was, and when what is lost was acknowledged. */
export function keepEvidence(faults: readonly Fault[], load: Load, scene: Scene, lost: readonly string[]): void {
  const folder = LOGS;
  if (folder === undefined) return;
  const missing = new Set(lost);
  const evidence = {
    faults: faults.map(({ name, at }) => ({ name, at: new Date(performance.timeOrigin + at) })),
    lost: load.elements
      .filter(({ ref }) => missing.has(ref))
      .map(({ ref, id, acknowledgedAt }) => ({ ref, id, acknowledgedAt })),
  };
  writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence, null, 1));
  scene.instances.forEach((instance, i) => writeFileSync(join(folder, `instance-${i + 1}.log`), instance.output()));
}
