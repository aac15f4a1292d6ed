import { Injectable } from '@nestjs/common';
import type { Connection } from '../database/connection.js';
import { rowArrays } from '../database/sql-rows.js';
import { CATALOG_LAYOUT, MATERIAL_AT_SITE } from '../site-sync/catalog/catalog-checks.js';
import { type KnownLayout, KnownMaterials } from '../site-sync/catalog/known-materials.js';
import type { References } from './business-rules.js';
import type { BookChanges } from './ticket-book.js';
import { ticketRow } from './ticket-rows.js';
import { BODY, TICKET, WRITE_NEW, WRITE_NEW_OF_KNOWN } from './ticket-sql.js';

interface Written {
  /** Null where all were written. */
  readonly ids: readonly string[] | null;
  readonly layouts?: Readonly<Record<string, number>>;
}

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
    const layouts = this.materials.layoutsOf(references);
    const statement = layouts === undefined ? writeLookingUp(changes, references) : writeOfKnown(changes, layouts);
    const [written] = await connection.query<Written[]>(...statement);
    const ids = new Set(written?.ids ?? changes.created.map(({ id }) => id));
    // Why nothing was written is not told: something may have moved.
    if (layouts !== undefined && ids.size === 0) this.materials.forget(references);
    if (ids.size > 0 && written?.layouts !== undefined) this.materials.learn(references, written.layouts);
    return ids;
  }
}

type Statement = [sql: string, parameters: Buffer[]];

function writeLookingUp(changes: BookChanges, references: readonly References[]): Statement {
  const named = references.flatMap(({ haulerId, siteId, materialIds }) =>
    materialIds.map((materialId) => ({ hauler_id: haulerId, site_id: siteId, material_id: materialId })),
  );
  return [WRITE_NEW, [...rowArrays(MATERIAL_AT_SITE, named), ...ticketsAndBodies(changes)]];
}

function writeOfKnown(changes: BookChanges, layouts: readonly KnownLayout[]): Statement {
  const named = layouts.map(({ haulerId, number }) => ({ hauler_id: haulerId, number: String(number) }));
  return [WRITE_NEW_OF_KNOWN, [...rowArrays(CATALOG_LAYOUT, named), ...ticketsAndBodies(changes)]];
}

function ticketsAndBodies({ created, revisions }: BookChanges): Buffer[] {
  const bodies = new Map(revisions.map(({ ticketId, body }) => [ticketId, body]));
  return [
    ...rowArrays(TICKET, created.map(ticketRow)),
    ...rowArrays(
      BODY,
      created.map(({ id }) => ({ body: bodies.get(id) ?? null })),
    ),
  ];
}
