import { type DataSource, In, LessThan } from 'typeorm';
import { parseJson } from '../contracts/common/json.js';
import { readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { CreateScaleTicketRequest, type TicketResult } from '../contracts/scale/scale.dto.js';
import type { Sql } from '../core/database/sql.js';
import { changesOf, keptChanges, NO_CHANGES, type TicketForm } from './ticket-changes.rules.js';
import { TicketRevisionEntity } from './ticket.entity.js';
import { findRevisionSizes, type RowSize } from './ticket-list.repository.js';
import { toPush, type TicketChanges } from './ticket.js';
import { newest } from './ticket.rules.js';

/** How much of a page is read at once. A single row may be larger. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** A stored push with what it changed. */
export interface StoredPush {
  readonly row: TicketRevisionEntity;
  readonly changes: TicketChanges;
}

type TicketKey = Pick<TicketRevisionEntity, 'haulerId' | 'ticketId'>;

/** The revisions `first` to `last` of a ticket. */
export async function* readPushes(
  database: Sql,
  dataSource: DataSource,
  ticket: TicketKey,
  first: number,
  last: number,
): AsyncGenerator<StoredPush> {
  if (first > last) return;
  const comparison = new Comparison(dataSource, ticket);
  for (const chunk of chunksOf(await findRevisionSizes(database, ticket, first, last))) {
    const where = { ...ticket, revision: In(chunk) };
    const rows = await dataSource.manager.find(TicketRevisionEntity, { where, order: { revision: 'ASC' } });
    for (const row of rows) yield { row, changes: await comparison.changesOf(row) };
  }
}

interface InForce extends TicketForm {
  /** False if a flow that is absent here may have come with an earlier push. */
  readonly isWhole: boolean;
}

/**
 * Changes of revisions that do not have them: each is compared with what was in force when it arrived. Of the revisions before a
 * page one is read, that whose contents were in force.
 */
class Comparison {
  private inForce: InForce | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly ticket: TicketKey,
  ) {}

  async changesOf({ revision, body, result, changes }: TicketRevisionEntity): Promise<TicketChanges> {
    if (changes !== null) {
      this.inForce = undefined;
      return changes;
    }
    const before = this.inForce ?? (await this.formBefore(revision));
    const push = formIn(body);
    this.inForce = push && applied(before, push, result);
    if (before === undefined || this.inForce === undefined) return NO_CHANGES;
    return keptChanges(changesOf(withFlows(before, this.inForce), this.inForce));
  }

  private async formBefore(revision: number): Promise<InForce | undefined> {
    if (revision === 1) return undefined;
    const where = { ...this.ticket, result: In(['created', 'updated']), revision: LessThan(revision) };
    const won = await this.dataSource.manager.findOne(TicketRevisionEntity, { where, order: { revision: 'DESC' } });
    const form = won === null ? undefined : formIn(won.body);
    return form && { ...form, isWhole: revision === 2 };
  }
}

/** What is in force after a push; undefined if that is not known. */
function applied(before: InForce | undefined, push: TicketForm, result: TicketResult): InForce | undefined {
  if (before === undefined) return result === 'stale' ? undefined : { ...push, isWhole: result === 'created' };
  const { inbound, outbound } = before.flows;
  return {
    contents: result === 'stale' ? before.contents : push.contents,
    flows: { inbound: newest(inbound, push.flows.inbound), outbound: newest(outbound, push.flows.outbound) },
    isWhole: before.isWhole,
  };
}

/** A flow that may have come earlier is not shown as added. */
function withFlows({ contents, flows, isWhole }: InForce, after: TicketForm): TicketForm {
  if (isWhole) return { contents, flows };
  const { inbound = after.flows.inbound, outbound = after.flows.outbound } = flows;
  return { contents, flows: { inbound, outbound } };
}

/** The ticket in a stored body; undefined if a later version of the contract does not accept it any more. */
export function formIn(body: string): TicketForm | undefined {
  try {
    const violations: Violation[] = [];
    const request = readerOf(CreateScaleTicketRequest)(parseJson(body), '', violations);
    return violations.length === 0 ? toPush(request, '', body) : undefined;
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
