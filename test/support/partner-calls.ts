import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { readerOf } from '../../src/contracts/common/fields/field.js';
import type { Violation } from '../../src/contracts/common/violation.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { GetSitesResponse } from '../../src/contracts/site/site.dto.js';
import type { PartnerAnswer } from '../../src/partner-client/partner-answer.js';
import type { PartnerCall } from '../../src/partner-client/partner-client.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { type StoredConnection, storeConnection } from './partner-client.js';
import { type ScriptedPartner, startScriptedPartner } from './scripted-partner.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export const SITES = 'GET /scale-platform/v1/sites';
export const PARTNER_KEY = 'k3y/of+the=partner';
export const EMPTY = { success: true, data: {} };
export const getSites: PartnerCall = { api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId: 'x y+&z' } };

/** A scripted partner, and a database with connections to it. A spec file calls `usePartnerCalls()` once, at its top. */
export interface PartnerCalls {
  readonly dataSource: DataSource;
  readonly partner: ScriptedPartner;
  readonly connect: (options?: Partial<Parameters<typeof storeConnection>[1]>) => Promise<StoredConnection>;
}

export function usePartnerCalls(): PartnerCalls {
  Logger.overrideLogger(false);
  let database: TestDatabase;
  let dataSource: DataSource;
  let partner: ScriptedPartner;
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await database.connect();
    partner = await startScriptedPartner();
  });
  afterEach(() => partner.reset());
  afterAll(async () => {
    await partner.stop();
    await database.drop();
  });
  return {
    get dataSource() {
      return dataSource;
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

/** The body as a response with sites. Throws `PartnerFailure` of kind `breach` with the path of each violation. */
export function readSites(answer: PartnerAnswer): GetSitesResponse {
  const violations: Violation[] = [];
  const sites = readerOf(GetSitesResponse)(answer.json(), '', violations);
  if (violations.length > 0) throw answer.breach(violations);
  return sites;
}
