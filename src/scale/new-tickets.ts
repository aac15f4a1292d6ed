import { Injectable } from '@nestjs/common';
import type { SharedConnection } from '../database/connection.js';
import { rowArrays } from '../database/sql-rows.js';
import { CATALOG_LAYOUT, type CatalogLayout, MATERIAL_AT_SITE } from '../site-sync/catalog/catalog-checks.js';
import type { CatalogLookup } from '../site-sync/catalog/catalog.service.js';
import { KnownMaterials } from '../site-sync/catalog/known-materials.js';
import type { BookChanges } from './ticket-book.js';
import { BODY, NEW_TICKET } from './ticket-columns.js';
import { WRITE_NEW, WRITE_NEW_OF_KNOWN } from './ticket-sql.js';
import type { Ticket } from './ticket.js';

/** A ticket that was new. */
type Written = Pick<Ticket, 'id'>;

/** Writes new tickets, in the one statement that also finds whether they are new and their materials right. */
@Injectable()
export class NewTickets {
  constructor(private readonly materials: KnownMaterials) {}

  /** The ids of those of `created` whose flows were not stored yet; none where any reference is wrong. */
  async write(
    connection: SharedConnection,
    changes: BookChanges,
    references: readonly CatalogLookup[],
  ): Promise<ReadonlySet<string>> {
    const layouts = this.materials.layoutsOf(references);
    const written =
      layouts === undefined
        ? await this.writeLookingUp(connection, changes, references)
        : await connection.query<Written[]>(WRITE_NEW_OF_KNOWN, [
            ...rowArrays(CATALOG_LAYOUT, layouts),
            ...rowsOf(changes),
          ]);
    // Why nothing was written is not told: something may have moved.
    if (layouts !== undefined && written.length === 0) this.materials.forget(references);
    return new Set(written.map(({ id }) => id));
  }

  private async writeLookingUp(
    connection: SharedConnection,
    changes: BookChanges,
    references: readonly CatalogLookup[],
  ): Promise<Written[]> {
    const named = references.flatMap(({ materialIds, ...at }) =>
      materialIds.map((materialId) => ({ ...at, materialId })),
    );
    const written = await connection.query<(Written & CatalogLayout)[]>(WRITE_NEW, [
      ...rowArrays(MATERIAL_AT_SITE, named),
      ...rowsOf(changes),
    ]);
    this.materials.learn(references, written);
    return written;
  }
}

/** The parameters of the new tickets and of the pushes that made them. */
function rowsOf({ created, revisions }: BookChanges): Buffer[] {
  const firstOf = new Map(revisions.map((revision) => [revision.ticketId, revision]));
  return [
    ...rowArrays(NEW_TICKET, created),
    ...rowArrays(
      BODY,
      created.map(({ id }) => firstOf.get(id)),
    ),
  ];
}
