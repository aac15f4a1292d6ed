import type { EventData, TopicName } from '../../contracts/webhooks/topics.values.js';
import { type Columns, rowArrays, rowsSql, type Sql } from '../../core/database/sql.js';

/** Something happened. */
export interface HappenedEvent {
  readonly topic: TopicName;
  readonly haulerId: string;
  readonly connectionId?: string;
  /** The hauler is added. */
  readonly data: EventData;
}

/** An event with its time-ordered id, from which the ids of its deliveries are made, and its whole data. */
export type Event = HappenedEvent & { readonly id: string };

export const EVENT = {
  id: ['uuid', ({ id }) => id],
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  connection_id: ['uuid', ({ connectionId }) => connectionId ?? null],
  topic: ['text', ({ topic }) => topic],
  data: ['json', ({ data }) => JSON.stringify(data)],
} as const satisfies Columns<Event>;

/**
 * For statements that write what happened: `events` are rows with the columns of `EVENT`. Each endpoint that asks for an event
 * gets a delivery. Its id begins with the time of the event, as in a UUIDv7, and is random behind that. An endpoint of a
 * connection gets the events of that connection alone.
 */
export const insertDeliveries = (events: string): string => `
  INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data)
  SELECT overlay(gen_random_uuid()::text PLACING left(event.id::text, 18) FROM 1)::uuid, e.id, event.hauler_id, event.topic, event.data
    FROM ${events} AS event JOIN webhook_endpoints AS e
      ON e.enabled AND event.topic = ANY (e.topics) AND (e.hauler_id IS NULL OR e.hauler_id = event.hauler_id)
     AND (e.connection_id IS NULL OR e.connection_id = event.connection_id)`;

const INSERT = insertDeliveries(rowsSql(EVENT, 1));

export async function insertEvents(database: Sql, events: readonly Event[]): Promise<void> {
  await database.query(INSERT, rowArrays(EVENT, events));
}

/** The locks that `insertDeliveries` takes; an error of a lock timeout if another transaction holds one that excludes them. */
export async function lockTables(database: Sql): Promise<void> {
  await database.query('LOCK TABLE webhook_endpoints IN ACCESS SHARE MODE NOWAIT', []);
  await database.query('LOCK TABLE webhook_deliveries IN ROW EXCLUSIVE MODE NOWAIT', []);
}
