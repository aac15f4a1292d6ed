import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import { Logger } from '@nestjs/common';
import axios from 'axios';
import type { DataSource } from 'typeorm';
import { SITE_API } from '../../../src/contracts/site/site.api.js';
import { Database } from '../../../src/core/database/database.js';
import { Metrics } from '../../../src/core/observability/metrics.js';
import { ConnectionKeys, sealKey } from '../../../src/partner-client/connection-keys.service.js';
import { httpDefaults, PartnerTransport } from '../../../src/partner-client/http-exchange.js';
import {
  type PartnerCall,
  PartnerClient,
  type PartnerSettings,
  partnerSettings,
} from '../../../src/partner-client/partner-client.js';
import type { PartnerConnection } from '../../../src/partner-client/connections.repository.js';
import { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import { insertConnection } from '../../support/rows.js';
import { type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

export const SITES = 'GET /scale-platform/v1/sites';
export const PARTNER_KEY = 'k3y/of+the=partner';
export const EMPTY = { success: true, data: {} };
export const getSites: PartnerCall = { api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId: 'x y+&z' } };

/** A scripted partner, and a database with connections to it. A spec file calls `usePartnerCalls()` once, at its top. */
export interface PartnerCalls {
  readonly dataSource: DataSource;
  readonly database: Database;
  readonly partner: ScriptedPartner;
  readonly connect: (options?: Partial<Parameters<typeof storeConnection>[1]>) => Promise<StoredConnection>;
}

export function usePartnerCalls(): PartnerCalls {
  Logger.overrideLogger(false);
  let stage: TestDatabase;
  let database: Database;
  let dataSource: DataSource;
  let partner: ScriptedPartner;
  beforeAll(async () => {
    stage = await createTestDatabase();
    dataSource = await stage.connect();
    database = new Database({ DATABASE_URL: stage.url, DATABASE_POOL: 10 });
    partner = await startScriptedPartner();
  });
  afterEach(() => partner.reset());
  afterAll(async () => {
    await partner.stop();
    await database.onApplicationShutdown();
    await stage.drop();
  });
  return {
    get dataSource() {
      return dataSource;
    },
    get database() {
      return database;
    },
    get partner() {
      return partner;
    },
    connect: (options = {}) => storeConnection(dataSource, { baseUrl: partner.url, key: PARTNER_KEY, ...options }),
  };
}

export async function failureOf(call: Promise<unknown>): Promise<PartnerFailure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PartnerFailure)) throw error instanceof Error ? error : new Error('the call did not fail');
  return error;
}

/** The whole body of the answer. */
export const ask = (client: PartnerClient, connection: PartnerConnection, call: PartnerCall): Promise<unknown> =>
  client.stream(connection, call, (answer) => answer.json());

const SECRETS_KEY = randomBytes(32);

interface ClientOptions {
  readonly allowPrivate?: boolean;
  readonly connectMs?: number;
}

/** A client as the module makes it, with limits that a test can wait for. */
export function partnerClient(
  database: Database,
  { allowPrivate = true, connectMs = 500, ...settings }: Partial<PartnerSettings> & ClientOptions = {},
): PartnerClient {
  const env = {
    OUTBOUND_ALLOW_PRIVATE: allowPrivate,
    PARTNER_CONNECT_TIMEOUT: connectMs,
    PARTNER_ANSWER_TIMEOUT: 1_000,
    PARTNER_BODY_LIMIT: 1_048_576,
    SANDBOX: false,
    SECRETS_KEY,
  };
  const all = { ...partnerSettings(env), retries: { firstMs: 20, factor: 2, maxMs: 60_000, jitter: 0.5 }, ...settings };
  const http = new HttpService(axios.create(httpDefaults(env)));
  return new PartnerClient(
    new PartnerTransport(http),
    new ConnectionKeys(database, env),
    all,
    { allowPrivate },
    new Metrics(),
    { isOn: true, reason: undefined },
  );
}

export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly key?: string;
  readonly nextKey?: string;
  readonly interface?: 'site' | 'vision';
}

/** A key as the client can open it. */
export const sealedFor = (connectionId: string, key: string): string => sealKey(SECRETS_KEY, connectionId, key);

/** A connection, and what is stored in its two key slots. */
export interface StoredConnection extends PartnerConnection {
  readonly sealedKey: string;
  readonly sealedNextKey: string | null;
}

/** A hauler with one connection, stored. */
export async function storeConnection(
  dataSource: DataSource,
  { baseUrl, key = 'current-partner-key', nextKey, interface: name = 'site' }: ConnectionOptions,
): Promise<StoredConnection> {
  const connection: PartnerConnection = {
    id: randomUUID(),
    haulerId: randomUUID(),
    baseUrl,
  };
  const sealed = {
    sealedKey: sealedFor(connection.id, key),
    sealedNextKey: nextKey === undefined ? null : sealedFor(connection.id, nextKey),
  };
  await insertConnection(dataSource, { ...connection, ...sealed, interface: name });
  return { ...connection, ...sealed };
}
