import { type Columns, instantSql, rowArrays, rowsSql } from '../core/database/sql.js';
import type { Session } from '../core/database/session.js';
import { awaitStandbys } from '../core/database/local-commit.js';
import {
  isLostStatement,
  isTransient,
  isUniqueViolation,
  isUniqueViolationIn,
} from '../core/database/postgres-errors.js';
import { EVENT, type Event, insertDeliveries } from '../webhooks/events/outbox.repository.js';
import { IS_UNKNOWN } from '../site-sync/catalog/catalog.repository.js';
import { keptChanges } from './ticket-changes.rules.js';
import { type BatchChanges, byFlows } from './ticket.rules.js';
import type { Direction, Flow, Push, Revision, Ticket } from './ticket.js';

/** The columns that a ticket and the push that creates it have in common. */
const CONTENTS = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  id: ['uuid', ({ id }) => id],
  site_id: ['uuid', ({ siteId }) => siteId],
  inbound_number: ['text', ({ flows }) => flows.inbound?.ticketNumber ?? null],
  inbound_updated_at: ['timestamptz', ({ flows }) => flows.inbound?.updatedAt ?? null],
  outbound_number: ['text', ({ flows }) => flows.outbound?.ticketNumber ?? null],
  outbound_updated_at: ['timestamptz', ({ flows }) => flows.outbound?.updatedAt ?? null],
  materials: ['json', ({ contents }) => contents.materials],
  custom_fields: ['json', ({ contents }) => contents.customFields],
} as const satisfies Columns<Ticket | Push>;

/** The columns of a new ticket that its push determines. */
const CREATED = {
  ...CONTENTS,
  created_at: ['timestamptz', ({ receivedAt }) => receivedAt],
} as const satisfies Columns<Push>;

/** The other columns of a new ticket follow from these. */
const DERIVED = {
  revision: '1',
  contents_version: 'greatest(inbound_updated_at, outbound_updated_at)',
  updated_at: 'created_at',
};

const TICKET = {
  ...CONTENTS,
  revision: ['integer', ({ revision }) => revision],
  contents_version: ['timestamptz', ({ version }) => version],
  created_at: ['timestamptz', ({ createdAt }) => createdAt],
  updated_at: ['timestamptz', ({ updatedAt }) => updatedAt],
} as const satisfies Columns<Ticket>;

const TICKET_KEY = { hauler_id: TICKET.hauler_id, id: TICKET.id } as const satisfies Columns<Ticket>;

const PUSHED = {
  body: ['json', ({ body }) => body],
  exchange_id: ['uuid', ({ origin }) => origin.exchangeId],
  api_key_id: ['uuid', ({ origin }) => origin.apiKeyId],
  request_id: ['text', ({ origin }) => origin.requestId],
} as const satisfies Columns<Pick<Push, 'body' | 'origin'>>;

const REVISION = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  ticket_id: ['uuid', ({ ticketId }) => ticketId],
  revision: ['integer', ({ revision }) => revision],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  result: ['text', ({ result }) => result],
  ...PUSHED,
} as const satisfies Columns<Revision>;

/** A revision of a stored ticket. */
const CHANGED = {
  ...REVISION,
  changes: ['json', ({ changes }) => changes && JSON.stringify(keptChanges(changes))],
} as const satisfies Columns<Revision>;

/** A new ticket with its first revision. */
const NEW_TICKET = { ...CREATED, ...PUSHED } as const satisfies Columns<Push>;

/** The key by which a push's flow is found. */
const flowKey = (direction: Direction) =>
  ({
    hauler_id: ['uuid', ({ haulerId }) => haulerId],
    site_id: ['uuid', ({ siteId }) => siteId],
    number: ['text', ({ flows }) => flows[direction]?.ticketNumber ?? null],
  }) as const satisfies Columns<Push>;

type TicketColumn = keyof typeof TICKET;
const TICKET_COLUMNS = Object.keys(TICKET) as TicketColumn[];
const UNCHANGEABLE: readonly TicketColumn[] = ['hauler_id', 'id', 'site_id', 'created_at'];

const countOf = (columns: Columns<never>) => Object.keys(columns).length;
const namesOf = (columns: Columns<never>) => Object.keys(columns).join(', ');
const insert = (table: string, columns: Columns<never>, from: string) =>
  `INSERT INTO ${table} (${namesOf(columns)}) SELECT ${namesOf(columns)} FROM ${from}`;

const selected = TICKET_COLUMNS.map((column) =>
  TICKET[column][0] === 'timestamptz' ? `${instantSql(`t.${column}`)} AS ${column}` : `t.${column}`,
).join(', ');
const selectByFlow = (direction: Direction, first: number) => `
  SELECT ${selected} FROM ${rowsSql(flowKey(direction), first)} AS pushed
    JOIN tickets t ON (t.hauler_id, t.${direction}_number, t.site_id) = (pushed.hauler_id, pushed.number, pushed.site_id)`;

/** Parameters: `flowKey` of the inbound flows, then of the outbound flows. */
const FIND = `${selectByFlow('inbound', 1)} UNION ALL ${selectByFlow('outbound', 4)}`;

/** A material that a push names. */
const MATERIAL = {
  push_id: ['uuid', ({ pushId }) => pushId],
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  site_id: ['uuid', ({ siteId }) => siteId],
  material_id: ['uuid', ({ materialId }) => materialId],
} as const satisfies Columns<NamedMaterial>;

interface NamedMaterial extends Pick<Push, 'haulerId' | 'siteId'> {
  readonly pushId: string;
  readonly materialId: string;
}

const materialsOf = ({ id: pushId, haulerId, siteId, materialIds }: Push): NamedMaterial[] =>
  materialIds.map((materialId) => ({ pushId, haulerId, siteId, materialId }));

const CREATED_EVENTS = `(
         SELECT pushed.id, hauler_id, NULL::uuid AS connection_id, 'ticket.created' AS topic,
                format('{"haulerId":"%s","ticketId":"%s"}', hauler_id, id) AS data
           FROM pushed JOIN created USING (id))`;

/**
 * Parameters: `MATERIAL`, `NEW_TICKET`. The unique indexes of the flows find out which tickets are new. Reading the flows before
 * writing took 2.5 times as long. Each push is decided by itself: one with an unknown site or material is not inserted.
 */
const insertNew = (announced: string) => `
  WITH pushed AS MATERIALIZED (SELECT * FROM ${rowsSql(NEW_TICKET, countOf(MATERIAL) + 1)} AS pushed),
       unknown AS MATERIALIZED (SELECT push_id FROM ${rowsSql(MATERIAL, 1)} AS reference WHERE ${IS_UNKNOWN}),
       created AS (
         INSERT INTO tickets (${namesOf(CREATED)}, ${Object.keys(DERIVED).join(', ')})
         SELECT ${namesOf(CREATED)}, ${Object.values(DERIVED).join(', ')} FROM pushed
          WHERE id NOT IN (SELECT push_id FROM unknown)
             ON CONFLICT DO NOTHING RETURNING id)${announced}
  INSERT INTO ticket_revisions (${namesOf(REVISION)})
  SELECT hauler_id, id, 1, created_at, 'created', body, exchange_id, api_key_id, request_id FROM pushed JOIN created USING (id)
  RETURNING ticket_id AS id`;
const INSERT_NEW = insertNew('');
const INSERT_NEW_ANNOUNCED = insertNew(`,
       announced AS (${insertDeliveries(CREATED_EVENTS)})`);

/** Parameters: `CHANGED`, `TICKET` of the new tickets, `TICKET` of the updated tickets, and `EVENT` where they are announced. */
const write = (announced: string) => `
  WITH created AS (${insert('tickets', TICKET, `${rowsSql(TICKET, countOf(CHANGED) + 1)} AS pushed`)}),
       updated AS (
         UPDATE tickets t
            SET ${TICKET_COLUMNS.filter((column) => !UNCHANGEABLE.includes(column))
              .map((column) => `${column} = pushed.${column}`)
              .join(', ')}
           FROM ${rowsSql(TICKET, countOf(CHANGED) + countOf(TICKET) + 1)} AS pushed
          WHERE (t.hauler_id, t.id) = (pushed.hauler_id, pushed.id))${announced}
  INSERT INTO ticket_revisions (${namesOf(CHANGED)})
  SELECT ${namesOf(REVISION)}, changes::jsonb FROM ${rowsSql(CHANGED, 1)} AS pushed`;
const WRITE = write('');
const WRITE_ANNOUNCED = write(`,
       announced AS (${insertDeliveries(rowsSql(EVENT, countOf(CHANGED) + 2 * countOf(TICKET) + 1))})`);

/** Parameters: `TICKET_KEY` of the tickets that give up a number. */
const FREE_NUMBERS = `
  UPDATE tickets t SET inbound_number = NULL, outbound_number = NULL
    FROM ${rowsSql(TICKET_KEY, 1)} AS renamed
   WHERE (t.hauler_id, t.id) = (renamed.hauler_id, renamed.id)`;

/** Returns every ticket that a flow of these pushes matches (decision 20). A ticket that two flows match may come twice. */
export async function findTickets(session: Session, pushes: readonly Push[]): Promise<Ticket[]> {
  const parameters = [...rowArrays(flowKey('inbound'), pushes), ...rowArrays(flowKey('outbound'), pushes)];
  return (await session.query<TicketRow>(FIND, parameters)).map(toTicket);
}

/**
 * Creates a ticket for each push whose flows are not stored yet, with its first revision, and returns their ids. No two pushes
 * may have a flow in common. Leaves out those whose site or material is unknown (decision 24).
 */
export async function insertNewTickets(
  session: Session,
  pushes: readonly Push[],
  isAnnounced: boolean,
): Promise<ReadonlySet<string>> {
  const inserted = await session.query<Pick<Ticket, 'id'>>(isAnnounced ? INSERT_NEW_ANNOUNCED : INSERT_NEW, [
    ...rowArrays(MATERIAL, pushes.flatMap(materialsOf)),
    ...rowArrays(NEW_TICKET, pushes.toSorted(byFlows)),
  ]);
  return new Set(inserted.map(({ id }) => id));
}

/**
 * Writes all changes of a batch, and what is announced of them, or none. No row was locked before: if another instance has changed one of the tickets
 * since it was read, a unique constraint of a flow or of a revision's number fails (decision 26), see `canRetry`.
 */
export async function writeChanges(
  session: Session,
  { created, updated, renamed, revisions }: BatchChanges,
  events: readonly Event[] | undefined,
): Promise<void> {
  if (revisions.length === 0) return awaitStandbys(session);
  const rows = [...rowArrays(CHANGED, revisions), ...rowArrays(TICKET, created), ...rowArrays(TICKET, updated)];
  const written = () =>
    events === undefined
      ? session.change(WRITE, rows)
      : session.change(WRITE_ANNOUNCED, [...rows, ...rowArrays(EVENT, events)]);
  if (renamed.length === 0) {
    await written();
    return;
  }
  // A number may move from one ticket of the batch to another, and constraints are checked row by row.
  await session.inTransaction(async () => {
    await session.change(FREE_NUMBERS, rowArrays(TICKET_KEY, renamed));
    await written();
  });
}

const RACE_CONSTRAINTS = ['tickets_inbound_key', 'tickets_outbound_key'];

/** True if nothing was written, and reading, deciding and writing again may succeed. */
export function canRetry(error: unknown): boolean {
  return (
    RACE_CONSTRAINTS.some((name) => isUniqueViolation(error, name)) ||
    isUniqueViolationIn(error, 'ticket_revisions') ||
    isTransient(error) ||
    isLostStatement(error)
  );
}

interface TicketRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly site_id: string;
  readonly revision: number;
  readonly contents_version: string | null;
  readonly inbound_number: string | null;
  readonly inbound_updated_at: string | null;
  readonly outbound_number: string | null;
  readonly outbound_updated_at: string | null;
  readonly materials: string;
  readonly custom_fields: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

function toTicket(row: TicketRow): Ticket {
  return {
    id: row.id,
    haulerId: row.hauler_id,
    siteId: row.site_id,
    revision: row.revision,
    version: row.contents_version,
    flows: {
      inbound: toFlow(row.inbound_number, row.inbound_updated_at),
      outbound: toFlow(row.outbound_number, row.outbound_updated_at),
    },
    contents: { materials: row.materials, customFields: row.custom_fields },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toFlow(ticketNumber: string | null, updatedAt: string | null): Flow | undefined {
  return ticketNumber === null || updatedAt === null ? undefined : { ticketNumber, updatedAt };
}
