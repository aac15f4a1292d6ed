import { Injectable } from '@nestjs/common';
import type { Connection } from '../database/connection.js';
import { rowArrays } from '../database/sql-rows.js';
import { CATALOG_LAYOUT, type CatalogLayout, LAYOUTS, MATERIAL_AT_SITE } from '../site-sync/catalog/catalog-checks.js';
import { KnownMaterials } from '../site-sync/catalog/known-materials.js';
import type { References } from './business-rules.js';
import type { BookChanges } from './ticket-book.js';
import { BODY, TICKET, TICKET_KEY } from './ticket-columns.js';
import { STORED, WRITE_NEW, WRITE_NEW_OF_KNOWN } from './ticket-sql.js';
import type { Ticket } from './ticket.js';

/** Writes new tickets, in the one statement that also finds whether they are new and their materials right. */
@Injectable()
export class NewTickets {
  constructor(private readonly materials: KnownMaterials) {}

  /** The ids of those of `created` whose flows were not stored yet; none where any reference is wrong. */
  async write(
    connection: Connection,
    changes: BookChanges,
    references: readonly References[],
  ): Promise<ReadonlySet<string>> {
    const { created } = changes;
    const layouts = this.materials.layoutsOf(references);
    const count =
      layouts === undefined
        ? await this.writeLookingUp(connection, changes, references)
        : await connection.execute(WRITE_NEW_OF_KNOWN, [...rowArrays(CATALOG_LAYOUT, layouts), ...rowsOf(changes)]);
    if (count === created.length) return idsOf(created);
    if (count > 0) return idsOf(await connection.query<Pick<Ticket, 'id'>[]>(STORED, rowArrays(TICKET_KEY, created)));
    // Why nothing was written is not told: something may have moved.
    if (layouts !== undefined) this.materials.forget(references);
    return new Set();
  }

  /** The layouts are read before: should something move in between, then what is learnt is under a number that is past. */
  private async writeLookingUp(
    connection: Connection,
    changes: BookChanges,
    references: readonly References[],
  ): Promise<number> {
    const named = references.flatMap(({ materialIds, ...at }) =>
      materialIds.map((materialId) => ({ ...at, materialId })),
    );
    const materials = rowArrays(MATERIAL_AT_SITE, named);
    const [layouts, count] = await Promise.all([
      connection.query<CatalogLayout[]>(LAYOUTS, materials),
      connection.execute(WRITE_NEW, [...materials, ...rowsOf(changes)]),
    ]);
    if (count > 0) this.materials.learn(references, layouts);
    return count;
  }
}

/** The parameters of the new tickets and of the pushes that made them. */
function rowsOf({ created, revisions }: BookChanges): Buffer[] {
  const bodies = new Map(revisions.map(({ ticketId, body }) => [ticketId, body]));
  return [
    ...rowArrays(TICKET, created),
    ...rowArrays(
      BODY,
      created.map(({ id }) => bodies.get(id) ?? ''),
    ),
  ];
}

const idsOf = (tickets: readonly Pick<Ticket, 'id'>[]) => new Set(tickets.map(({ id }) => id));
