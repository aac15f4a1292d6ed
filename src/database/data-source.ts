import type pg from 'pg';
import type { DataSourceOptions, EntitySchema } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ApiKeyEntity, HaulerEntity } from '../auth/auth.entity.js';
import type { ResolvedEnv } from '../config/env.js';
import { ConnectionEntity } from '../partner-client/connection.entity.js';
import { TicketEntity, TicketRevisionEntity } from '../scale/ticket.entity.js';
import { KioskEntity, MaterialEntity, SiteEntity } from '../site-sync/catalog/catalog.entity.js';
import { CONNECT_TIMEOUT_MS, pgWithDeadlinePool, PoolClient } from './pools.js';

/** The entities of all modules; no other file imports another module's entities. */
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
];

/** The pool of this instance. Migrations are applied by `migrate.ts` alone, the schema is never derived from entities. */
export function createDataSourceOptions(
  env: Pick<ResolvedEnv, 'DATABASE_URL' | 'DATABASE_POOL'>,
  onPool?: (pool: pg.Pool) => void,
): DataSourceOptions {
  return {
    type: 'postgres',
    driver: pgWithDeadlinePool(onPool),
    url: env.DATABASE_URL,
    entities: ENTITIES,
    synchronize: false,
    migrationsRun: false,
    installExtensions: false,
    logging: false,
    poolSize: env.DATABASE_POOL,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'haulbridge',
    extra: { Client: PoolClient, onConnect: PoolClient.prepare, keepAlive: true, idleTimeoutMillis: 0, pipeline: true },
  };
}
