import { type BuiltService, type BuiltServiceOptions, startService } from '../../support/built-service.js';
import { held } from '../../support/held.js';
import { type CreatedDatabase, createDatabase, type DatabaseOptions } from '../../support/test-run.js';

/** A built service that a test has started, with a database of its own. */
export interface OwnService extends BuiltService {
  readonly databaseUrl: string;
}

export interface OwnServiceOptions extends Omit<BuiltServiceOptions, 'databaseUrl'> {
  /** A second instance on the database and the files of this one. */
  readonly beside?: OwnService;
  /** An address of that database with something between, such as a proxy. */
  readonly databaseUrl?: string;
}

/** For cases that need settings of their own, several instances, or a service that is killed. */
export async function startOwnService({ beside, ...options }: OwnServiceOptions = {}): Promise<OwnService> {
  const database = beside === undefined && options.databaseUrl === undefined ? await ownDatabase() : undefined;
  const databaseUrl = options.databaseUrl ?? beside?.databaseUrl ?? database?.url ?? '';
  const dataDir = options.dataDir ?? beside?.dataDir;
  const env = { SANDBOX: 'true', ...options.env };
  const service = await startService({ ...options, env, databaseUrl, ...(dataDir === undefined ? {} : { dataDir }) });
  return { ...service, databaseUrl };
}

/** It is dropped at the end of the test file, after the services on it have ended. */
export async function ownDatabase(options: DatabaseOptions = {}): Promise<CreatedDatabase> {
  const database = await createDatabase(options);
  return { ...database, drop: held(database.drop) };
}
