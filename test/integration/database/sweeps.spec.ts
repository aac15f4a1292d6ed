import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DiscoveryService } from '@nestjs/core';
import { ActionLog } from '../../../src/auth/action-log.repository.js';
import { ConsoleSessions } from '../../../src/auth/console-sessions.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { insertForSweeps, rowsOf, whileTableIsLocked } from '../../support/rows.js';

/** Of `@nestjs/schedule`. */
const INTERVAL = 'SCHEDULE_INTERVAL_OPTIONS';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test.each<[string, string, (app: TestApp['app']) => Promise<unknown>]>([
  ['actions', 'actions', (app) => app.get(ActionLog).deleteOld()],
  ['sessions', 'console_sessions', (app) => app.get(ConsoleSessions).deleteExpired()],
])('a stop awaits the step of the sweep of %s, and loses none that follows', async (_, table, sweep) => {
  await insertForSweeps(service);
  const stopping = await startTestApp({ on: service });
  let swept: Promise<unknown> = Promise.resolve('no sweep has run');
  let closed: Promise<unknown> = Promise.resolve();
  await whileTableIsLocked(service, table, async () => {
    swept = sweep(stopping.app);
    closed = stopping.close();
    await delay(1_000);
  });
  await expect(swept).resolves.toBeUndefined();
  await closed;
  expect((await rowsOf(service, table)).length).toBeGreaterThanOrEqual(500);
});

test('a stop awaits whatever runs at an interval', () => {
  const providers = service.app.get(DiscoveryService, { strict: false }).getProviders();
  const regular = providers.flatMap(({ instance }) => {
    const prototype =
      instance === null || typeof instance !== 'object' ? null : (Object.getPrototypeOf(instance) as object);
    if (prototype === null || prototype === Object.prototype) return [];
    const methods = Object.values(Object.getOwnPropertyDescriptors(prototype)).map(({ value }) => value as unknown);
    return methods.some((method) => typeof method === 'function' && Reflect.hasMetadata(INTERVAL, method))
      ? [prototype]
      : [];
  });
  expect(regular.length).toBeGreaterThan(8);
  expect(regular.filter((prototype) => !('beforeApplicationShutdown' in prototype))).toEqual([]);
});
