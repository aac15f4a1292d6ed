import { Metrics } from '../../src/observability/metrics.js';
import { randomBytes, randomUUID } from 'node:crypto';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import type { DataSource } from 'typeorm';
import { ConnectionKeys } from '../../src/partner-client/connection-keys.service.js';
import { httpDefaults, PartnerTransport } from '../../src/partner-client/http-exchange.js';
import { PartnerClient, type PartnerSettings, partnerSettings } from '../../src/partner-client/partner-client.js';
import type { PartnerConnection } from '../../src/partner-client/partner-connection.js';
import { sealKey } from '../../src/partner-client/connection-keys.service.js';

const SECRETS_KEY = randomBytes(32);

interface ClientOptions {
  readonly allowPrivate?: boolean;
  readonly connectMs?: number;
}

/** A client as the module makes it, with limits that a test can wait for. */
export function partnerClient(
  dataSource: DataSource,
  { allowPrivate = true, connectMs = 500, ...settings }: Partial<PartnerSettings> & ClientOptions = {},
): PartnerClient {
  const env = {
    OUTBOUND_ALLOW_PRIVATE: allowPrivate,
    PARTNER_CONNECT_TIMEOUT: connectMs,
    PARTNER_ANSWER_TIMEOUT: 1_000,
    PARTNER_BODY_LIMIT: 1_048_576,
    SECRETS_KEY,
  };
  const all = { ...partnerSettings(env), retryBaseMs: 20, ...settings };
  const http = new HttpService(axios.create(httpDefaults(env)));
  return new PartnerClient(
    new PartnerTransport(http),
    new ConnectionKeys(dataSource, env),
    all,
    { allowPrivate },
    new Metrics(),
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
  await dataSource.query('INSERT INTO haulers (id, name) VALUES ($1, $2)', [connection.haulerId, 'Test']);
  await dataSource.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, sealed_next_key, customer_id,
       interval_seconds, enabled, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 900, false, now(), now())`,
    [
      connection.haulerId,
      connection.id,
      name,
      baseUrl,
      sealed.sealedKey,
      sealed.sealedNextKey,
      name === 'vision' ? connection.haulerId : null,
    ],
  );
  return { ...connection, ...sealed };
}
