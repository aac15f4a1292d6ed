import type { DataSourceOptions, EntitySchema } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ApiKeyEntity, HaulerEntity } from '../auth/auth.entity.js';
import { ConnectionEntity } from '../partner-client/connection.entity.js';
import { TicketEntity, TicketRevisionEntity } from '../scale/ticket.entity.js';
import type { Database } from './database.js';
import { driverOver } from './typeorm-driver.js';

/** The entities of all modules; no other file imports another module's entities. */
const ENTITIES: (EntitySchema | (new () => object))[] = [
  HaulerEntity,
  ApiKeyEntity,
  ConnectionEntity,
  TicketEntity,
  TicketRevisionEntity,
  AccountEntity,
];

/** Migrations are applied by `migrate.ts` alone, the schema is never derived from entities. */
export const createDataSourceOptions = ({ general }: Pick<Database, 'general'>): DataSourceOptions => ({
  type: 'postgres',
  driver: driverOver((text, values) => general.run(text, values)),
  entities: ENTITIES,
  synchronize: false,
  migrationsRun: false,
  installExtensions: false,
  logging: false,
});
