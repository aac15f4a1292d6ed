import { type DataSource, In, LessThan } from 'typeorm';
import { parseJson } from '../contracts/common/json.js';
import { readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { CreateScaleTicketRequest } from '../contracts/scale/scale.dto.js';
import { TicketRevisionEntity } from './ticket.entity.js';
import { findRevisionSizes, type RowSize } from './ticket-list.repository.js';
import { type InForce, type StoryStep, storyStep } from './ticket-story.rules.js';

/** How much of a page is read at once. A single row may be larger. */
export const MAX_CHUNK_BYTES = 1024 * 1024;

/**
 * How far back the flows in force are sought. A flow of a still earlier push counts as absent; the contents are always those
 * in force.
 */
const LOOK_BACK = { pushes: 500, bytes: 8 * 1024 * 1024 };

/** A stored push with what it changed. */
export interface TicketStep extends Pick<StoryStep, 'changes'> {
  readonly row: TicketRevisionEntity;
  /** Undefined if the stored body cannot be read as a ticket. */
  readonly sentence: string | undefined;
}

type TicketKey = Pick<TicketRevisionEntity, 'haulerId' | 'ticketId'>;

/** The revisions `first` to `last` of a ticket, each compared with what was in force when it arrived (decision 21). */
export async function* readSteps(
  dataSource: DataSource,
  ticket: TicketKey,
  first: number,
  last: number,
): AsyncGenerator<TicketStep> {
  if (first > last) return;
  const sizes = await findRevisionSizes(dataSource, ticket, Math.max(first - LOOK_BACK.pushes, 1), last);
  const read = withinLookBack(sizes, first);
  let inForce = await contentsBefore(dataSource, ticket, read[0]?.id ?? 1);
  for (const chunk of chunksOf(read)) {
    const where = { ...ticket, revision: In(chunk) };
    const rows = await dataSource.manager.find(TicketRevisionEntity, { where, order: { revision: 'ASC' } });
    for (const row of rows) {
      const { step, after } = stepOf(inForce, row);
      inForce = after;
      if (row.revision >= first) yield { row, changes: step?.changes ?? [], sentence: step?.sentence };
    }
  }
}

/** A body that cannot be read leaves unknown what is in force after it, unless its push was stale. */
function stepOf(inForce: InForce | undefined, { body, result }: TicketRevisionEntity) {
  const request = requestIn(body);
  if (request === undefined) return { after: result === 'stale' ? inForce : undefined };
  if (inForce === undefined && result !== 'created') {
    return { after: result === 'stale' ? undefined : storyStep(undefined, request, 'created').after };
  }
  const step = storyStep(inForce, request, result);
  return { step, after: step.after };
}

/** The revisions from `first` on, and before them as many as may be read. */
function withinLookBack(sizes: readonly RowSize<number>[], first: number): readonly RowSize<number>[] {
  let free = LOOK_BACK.bytes;
  const isTooFar = ({ id, bytes }: RowSize<number>) => id < first && (free -= bytes) < 0;
  return sizes.slice(sizes.findLastIndex(isTooFar) + 1);
}

/** The state of the push whose contents were in force before a revision. */
async function contentsBefore(
  { manager }: DataSource,
  ticket: TicketKey,
  revision: number,
): Promise<InForce | undefined> {
  if (revision <= 1) return undefined;
  const where = { ...ticket, result: In(['created', 'updated']), revision: LessThan(revision) };
  const won = await manager.findOne(TicketRevisionEntity, { where, order: { revision: 'DESC' } });
  const request = won === null ? undefined : requestIn(won.body);
  return request && storyStep(undefined, request, 'created').after;
}

/** The request of a stored body; undefined if a later version of the contract does not accept it any more. */
function requestIn(body: string): CreateScaleTicketRequest | undefined {
  try {
    const violations: Violation[] = [];
    const request = readerOf(CreateScaleTicketRequest)(parseJson(body), '', violations);
    return violations.length === 0 ? request : undefined;
  } catch {
    return undefined;
  }
}

/** Ids of rows that may be read together, in their order. */
export function chunksOf<Id>(sizes: readonly RowSize<Id>[]): Id[][] {
  const chunks: Id[][] = [];
  let free = 0;
  for (const { id, bytes } of sizes) {
    if (chunks.length === 0 || bytes > free) {
      chunks.push([]);
      free = MAX_CHUNK_BYTES;
    }
    chunks.at(-1)?.push(id);
    free -= bytes;
  }
  return chunks;
}
