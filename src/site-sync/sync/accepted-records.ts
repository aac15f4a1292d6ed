import { contentCells, contentDigest, type PartnerRecord } from './content.js';
import type { Kind } from './kinds.js';
import type { Cell } from './send-rows.js';

/** A record that will be stored, as far as it is new. */
interface Accepted<K extends Kind> {
  readonly record: PartnerRecord<K>;
  /** In hex. */
  readonly digest: string;
  /** Why it is flagged. */
  readonly doubt: string | undefined;
}

/** What decides about a record. `position` is its index in `AcceptedRecords`, or null of one that is only kept (`keep`). */
export const JUDGED_COLUMNS = {
  position: 'integer',
  external_id: 'uuid',
  active: 'boolean',
  digest: 'bytea',
  flagged_reason: 'text',
  partner_updated_at: 'timestamptz',
} as const;

/** The records of one kind that an answer brought, on their way into the database. */
export class AcceptedRecords<K extends Kind = Kind> {
  private readonly accepted: Accepted<K>[] = [];
  private readonly kept: string[] = [];

  constructor(private readonly kind: K) {}

  accept(record: PartnerRecord<K>, doubt: string | undefined): void {
    this.accepted.push({ record, doubt, digest: contentDigest(this.kind, record) });
  }

  /** Not to be stored, and not absent either: what is stored under this id stays (decision 33). */
  keep(id: string): void {
    this.kept.push(id);
  }

  /** All of them in the order of `JUDGED_COLUMNS`. */
  *judged(): Generator<Cell[]> {
    for (let position = 0; position < this.accepted.length; position++) yield this.judgedCells(position);
    for (const id of this.kept) yield [null, id];
  }

  /** Some of them in the order of `JUDGED_COLUMNS` and the kind's `CONTENT_COLUMNS`. */
  *whole(positions: Iterable<number>): Generator<Cell[]> {
    for (const position of positions) {
      yield [...this.judgedCells(position), ...contentCells(this.kind, this.at(position).record)];
    }
  }

  private judgedCells(position: number): Cell[] {
    const { record, digest, doubt } = this.at(position);
    const active = record.active === false ? 'f' : 't';
    return [String(position), record.id, active, `\\x${digest}`, doubt ?? null, record.updatedAt ?? null];
  }

  private at(position: number): Accepted<K> {
    const accepted = this.accepted[position];
    if (accepted === undefined) throw new Error(`there is no record at ${position}`);
    return accepted;
  }
}
