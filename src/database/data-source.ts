import type { DataSourceOptions, EntitySchema } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ApiKeyEntity } from '../auth/api-key.entity.js';
import { HaulerEntity } from '../auth/hauler.entity.js';
import type { SettledEnv } from '../config/env.js';
import { ConnectionEntity } from '../partner-client/connection.entity.js';
import { TicketRevisionEntity } from '../scale/ticket-revision.entity.js';
import { TicketEntity } from '../scale/ticket.entity.js';
import { KioskEntity } from '../site-sync/catalog/kiosk.entity.js';
import { MaterialEntity } from '../site-sync/catalog/material.entity.js';
import { SiteEntity } from '../site-sync/catalog/site.entity.js';
import { RecordingEntity } from '../vision/recordings/recording.entity.js';
import { VideoRequestEntity } from '../vision/requests/video-request.entity.js';
import { PoolClient } from './pool-client.js';
import { SilentLogger } from './silent-logger.js';
import { timelyPg } from './timely-pool.js';

/** Every entity of every room; each room keeps its own to itself. */
const ENTITIES: (EntitySchema | (new () => object))[] = [
  HaulerEntity,
  ApiKeyEntity,
  ConnectionEntity,
  SiteEntity,
  KioskEntity,
  MaterialEntity,
  TicketEntity,
  TicketRevisionEntity,
  AccountEntity,
  VideoRequestEntity,
  RecordingEntity,
];

/** How long a request waits for a connection, new or free, before the database counts as away (decision 13). */
export const CONNECT_TIMEOUT_MS = 3000;

/** The pool of this instance. Migrations are applied by `migrate.ts` alone, the schema is never derived from entities. */
export function createDataSourceOptions(env: Pick<SettledEnv, 'DATABASE_URL' | 'DATABASE_POOL'>): DataSourceOptions {
  return {
    type: 'postgres',
    driver: timelyPg,
    url: env.DATABASE_URL,
    entities: ENTITIES,
    synchronize: false,
    migrationsRun: false,
    installExtensions: false,
    logger: new SilentLogger(),
    poolSize: env.DATABASE_POOL,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'haulbridge',
    extra: { Client: PoolClient, onConnect: PoolClient.prepare, keepAlive: true, idleTimeoutMillis: 0, pipeline: true },
  };
}
