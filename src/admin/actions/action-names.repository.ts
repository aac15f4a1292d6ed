import { Injectable } from '@nestjs/common';
import { Database } from '../../core/database/database.js';

/** A changed thing, or the key of a caller, with its hauler. It is found while its row is kept, also when it is deleted. */
export interface NamedThing {
  readonly kind: string;
  /** Its id; of a caller the prefix of the key. */
  readonly id: string;
  readonly hauler_id: string | null;
  readonly hauler: string | null;
  /** The interface of a connection, prefix and name of a key, the truck of footage, the operation of an exchange. */
  readonly detail: string | null;
}

/** The tables of things by the kind of a resource. Each is read by its index of ids. */
const SOURCES = `
  SELECT 'hauler' AS kind, id::text, id AS hauler_id, NULL AS detail FROM haulers WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'connection', id::text, hauler_id, interface FROM connections WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'api-key', id::text, hauler_id, prefix || '…' || coalesce(' (' || name || ')', '') FROM api_keys
    WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'sync-run', id::text, hauler_id, NULL FROM sync_runs WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'video-request', id::text, hauler_id, truck_id FROM video_requests WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'video-subscription', id::text, hauler_id, truck_id FROM video_subscriptions WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'recording', id::text, hauler_id, truck_id || ', camera ' || camera_id FROM recordings WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'hold', id::text, hauler_id, truck_id || ' for ' || case_id FROM holds WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'share', id::text, hauler_id, reason FROM recording_shares WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'exchange', id::text, hauler_id, coalesce(route, path) FROM exchanges WHERE id = ANY ($1::uuid[])
  UNION ALL
  SELECT 'caller', prefix, hauler_id, name FROM api_keys WHERE prefix = ANY ($2::text[])`;

/** The names of what a page of the action log is about. */
@Injectable()
export class ActionNames {
  constructor(private readonly database: Database) {}

  async find(ids: readonly string[], prefixes: readonly string[]): Promise<NamedThing[]> {
    if (ids.length + prefixes.length === 0) return [];
    return this.database.query<NamedThing>(
      `SELECT thing.*, h.name AS hauler FROM (${SOURCES}) AS thing LEFT JOIN haulers AS h ON h.id = thing.hauler_id`,
      [ids, prefixes],
    );
  }
}
