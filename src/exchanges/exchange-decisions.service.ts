import { Injectable } from '@nestjs/common';
import type { Reference } from '../contracts/common/references.js';
import { minUuidv7Of, timeOfUuidv7 } from '../core/database/uuid.js';
import { shownReferences, storedReferences } from './references.rules.js';
import { type ExchangeListRow, ExchangesRepository } from './exchanges.repository.js';

/** A call whose answer does not say what was decided: it was lost after the commit, or the caller did not wait for it. */
export interface UndecidedCall {
  readonly exchangeId: string;
  readonly haulerId: string;
  readonly references: readonly Reference[];
  /** What the call created has an id from `firstId` on and before `endId`. */
  readonly firstId: string;
  readonly endId: string;
}

/** What a call has stored. */
export interface Decision {
  readonly exchangeId: string;
  readonly result: string;
  readonly reference: Reference;
}

/** The decisions of those of the calls that have stored something. */
export type FindDecisions = (calls: readonly UndecidedCall[]) => Promise<readonly Decision[]>;

/** Ids are made before the answer; clocks and roundings differ by less. */
const ANSWERED_MS = 10;
/** How long the service works on a call whose caller has left. */
const LEFT_MS = 5_000;

/** Exchanges that may name what one of them created. */
const MAX_NAMING = 20;

/** Completes exchanges, when they are read, with what was stored although their answer does not say it (decision 66). */
@Injectable()
export class ExchangeDecisions {
  private readonly finders = new Map<string, FindDecisions>();

  constructor(private readonly exchanges: ExchangesRepository) {}

  /** The modules that store what a route receives know what is stored. */
  use(route: 'createTicket' | 'createAccount', find: FindDecisions): void {
    this.finders.set(route, find);
  }

  async complete<Row extends ExchangeListRow>(rows: readonly Row[]): Promise<Row[]> {
    const found = new Map<string, Decision>();
    for (const [route, find] of this.finders) {
      const calls = rows.filter((row) => row.route === route).flatMap(undecidedCall);
      if (calls.length === 0) continue;
      for (const decision of await find(calls)) found.set(decision.exchangeId, decision);
    }
    return Promise.all(rows.map((row) => this.completed(row, found.get(row.id))));
  }

  private async completed<Row extends ExchangeListRow>(row: Row, decision: Decision | undefined): Promise<Row> {
    if (decision === undefined || (await this.isOfAnother(row, decision))) return row;
    return {
      ...row,
      result: decision.result,
      refs: [...(row.refs ?? []), ...storedReferences(null, [decision.reference])],
    };
  }

  /** Whether a repetition of the call has created it: an account does not know its call. */
  private async isOfAnother({ id, hauler_id: haulerId }: ExchangeListRow, { result, reference }: Decision) {
    if (result !== 'created' || haulerId === null) return false;
    const naming = await this.exchanges.naming(haulerId, [reference], MAX_NAMING);
    return naming.some((other) => other.id !== id && other.result === result);
  }
}

function undecidedCall(row: ExchangeListRow): UndecidedCall[] {
  const { id, direction, hauler_id: haulerId, status, result, duration_ms: durationMs, refs } = row;
  const isUndecided = status === 0 ? result === null : status >= 500 && !/^[a-z]/.test(result ?? '');
  if (direction !== 'inbound' || haulerId === null || !isUndecided) return [];
  const at = timeOfUuidv7(id);
  const end = Math.ceil(at + durationMs) + (status === 0 ? LEFT_MS : ANSWERED_MS);
  const [firstId, endId] = [minUuidv7Of(at), minUuidv7Of(end)];
  return [{ exchangeId: id, haulerId, references: shownReferences(refs), firstId, endId }];
}
