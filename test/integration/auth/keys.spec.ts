import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ACCEPTED, callWithKey, statusWithKey } from '../../support/key-status.js';
import { lastUseOf, whileTableIsLocked } from '../../support/rows.js';
import { ageLastUse } from '../../support/time.js';

/** What instances write of a key, and times that have passed. `acceptance/admin/keys.spec.ts` has the rest. */
let one: TestApp;
beforeAll(async () => {
  one = await startTestApp();
});
afterAll(async () => {
  await one.close();
});

const issue = () => issueKey(one, ['account']);

describe('the last use of a key (decision 17)', () => {
  test('is written again after a minute', async () => {
    const { id, key } = await issue();
    await ageLastUse(one, id, 61);
    const before = await lastUseOf(one, id);
    expect(await statusWithKey(one, key)).toBe(ACCEPTED);
    await eventually(async () => expect(await lastUseOf(one, id)).not.toBe(before));
  });

  test('is not written again within the minute, also if another instance has written it, nor for a refused call', async () => {
    const [{ id, key }, refused, later] = [await issue(), await issueKey(one, ['scale']), await issue()];
    await ageLastUse(one, id, 30);
    const before = await lastUseOf(one, id);
    for (const each of [key, refused.key, later.key]) await statusWithKey(one, each);
    // What was used before is written with it.
    await eventually(async () => expect(await lastUseOf(one, later.id)).not.toBeNull());
    expect([await lastUseOf(one, id), await lastUseOf(one, refused.id)]).toEqual([before, null]);
  });

  test('is written by a stop', async () => {
    const third = await startTestApp({ on: one });
    const { id, key } = await issue();
    expect(await statusWithKey(third, key)).toBe(ACCEPTED);
    await third.close();
    expect(await lastUseOf(one, id)).not.toBeNull();
  });
});

test('a key that cannot be checked in time is 503 with Retry-After, within 5 s, and stays valid (decision 13)', async () => {
  const { key } = await issue();
  await whileTableIsLocked(one, 'api_keys', async () => {
    const start = performance.now();
    const reply = await callWithKey(one, key);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(reply.body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
    expect(performance.now() - start).toBeLessThan(5_000);
  });
  expect(await statusWithKey(one, key)).toBe(ACCEPTED);
});
