import { type Columns, rowArrays, rowsSql } from '../database/sql.js';
import type { Querying } from '../database/sql.js';
import type { HappenedEvent } from './outbox.js';

/** An event with the time-ordered id from which the ids of its deliveries are made. */
type Identified = HappenedEvent & { readonly id: string };

const EVENT = {
  id: ['uuid', ({ id }) => id],
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  connection_id: ['uuid', ({ connectionId }) => connectionId ?? null],
  topic: ['text', ({ topic }) => topic],
  data: ['json', ({ data }) => JSON.stringify(data)],
} as const satisfies Columns<Identified>;

/**
 * Parameters: `EVENT`. An id begins with the time of the event, as in a UUIDv7, and is random behind that. An endpoint of a
 * connection gets the events of that connection alone.
 */
const INSERT = `
  INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data)
  SELECT overlay(gen_random_uuid()::text PLACING left(event.id::text, 18) FROM 1)::uuid, e.id, event.hauler_id, event.topic, event.data
    FROM ${rowsSql(EVENT, 1)} AS event JOIN webhook_endpoints AS e
      ON e.enabled AND event.topic = ANY (e.topics) AND (e.hauler_id IS NULL OR e.hauler_id = event.hauler_id)
     AND (e.connection_id IS NULL OR e.connection_id = event.connection_id)`;

export async function insertDeliveries(database: Querying, events: readonly Identified[]): Promise<void> {
  await database.query(INSERT, rowArrays(EVENT, events));
}

/** What an enabled endpoint asks for. */
export interface Interest {
  readonly haulerId: string | null;
  readonly topics: readonly string[];
}

export function findInterests(database: Querying): Promise<Interest[]> {
  return database.query('SELECT DISTINCT hauler_id AS "haulerId", topics FROM webhook_endpoints WHERE enabled', []);
}
