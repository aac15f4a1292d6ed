import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import {
  enableRowSecurity,
  failByTrigger,
  hideMigrations,
  type OperatorChange,
  ordinaryRole,
  publishAllTables,
  tablesWithoutKey,
} from '../../support/operator-changes.js';
import { type ErrorBody, flow, Hauler, ONE_SITE } from '../../acceptance/support/hauler.js';
import { ownDatabase, startOwnService } from '../../acceptance/support/service.js';
import { call } from '../../acceptance/support/target.js';

const NOTHING: OperatorChange = () => Promise.resolve();
const linesWith = (output: string, text: string) => output.split('\n').filter((line) => line.includes(text)).length;

test.each([
  ['a publication of all tables', publishAllTables, 0],
  ['a trigger that fails', failByTrigger, 1],
  ['no privilege to delete', NOTHING, 0],
  ['row security', enableRowSecurity, 1],
])('an instance is ready where a push works: %s (decision 13)', async (_what, change, warnings) => {
  const { url } = await ownDatabase();
  await change(url);
  const service = await startOwnService({ databaseUrl: await ordinaryRole(url) });
  const hauler = await Hauler.create({ sites: ONE_SITE, service });
  for (let n = 0; n < 3; n++) {
    expect((await call('GET', '/health/ready', {}, service)).status).toBe(200);
    expect((await hauler.push({ inboundFlow: flow(`N-${n}`) })).status).toBe(200);
  }
  // Once, and not at each check.
  await eventually(() => expect(linesWith(service.output(), 'a check of the database failed')).toBe(warnings));
  expect(await service.end()).toBe(0);
});

test('an unknown error of a check is said as it is, and logged once (decision 13)', async () => {
  const { url } = await ownDatabase();
  const databaseUrl = await ordinaryRole(url);
  const service = await startOwnService({ databaseUrl });
  await hideMigrations(url, databaseUrl);
  const message = 'a check of the database failed: permission denied for table migrations';
  for (let n = 0; n < 3; n++) {
    const { status, body } = await call<ErrorBody>('GET', '/health/ready', {}, service);
    expect([status, body.error.message]).toEqual([503, message]);
  }
  await eventually(() => expect(linesWith(service.output(), message)).toBe(1));
});

test('every table has a key, so that a publication may send all changes (issue 46)', async () => {
  expect(await tablesWithoutKey((await ownDatabase()).url)).toEqual([]);
});
