import type { Kind } from './kinds.js';
import { forEachKind } from './kinds.js';

/** A record of a partner's answer that was not taken, or taken with doubt (decisions 32 and 33). */
export interface Remark {
  readonly severity: 'quarantined' | 'flagged';
  readonly kind: Kind;
  /** As in the answer's `data`: `materials[12].measureUnit`. */
  readonly path: string;
  /** A sentence. */
  readonly reason: string;
  /** The record as JSON, cut off where it is very long. */
  readonly raw: string;
}

/** More of one run are counted, and not kept one by one: a partner's systematic fault is understood from these. */
export const MOST_REMARKS = 10_000;

const LONGEST_RAW = 8_000;

export class Remarks {
  readonly kept: Remark[] = [];
  readonly quarantined = forEachKind(() => 0);
  readonly flagged = forEachKind(() => 0);

  add(severity: Remark['severity'], kind: Kind, path: string, reason: string, value: unknown): void {
    this[severity][kind]++;
    if (this.kept.length >= MOST_REMARKS) return;
    this.kept.push({ severity, kind, path, reason, raw: JSON.stringify(value).slice(0, LONGEST_RAW) });
  }
}
