import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHauler, issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { CLOSED, doorOf, knock, OPEN } from '../support/knock.js';

describe('RATE_LIMIT_PER_MINUTE (decision 15)', () => {
  let service: TestApp;
  let haulerId: string;
  beforeAll(async () => {
    service = await startTestApp({ env: { RATE_LIMIT_PER_MINUTE: 3 } });
    haulerId = await createHauler(service);
  });
  afterAll(() => service.close());

  test('reports the quota in each response, and refuses calls beyond it', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await knock(service, key);
      expect(status).toBe(OPEN);
      expect(headers.get('ratelimit-policy')).toMatch(/^"per-key"; ?q=3; ?w=60(; ?pk=:[A-Za-z0-9+/]+=*:)?$/);
      const [, remaining, reset] = /^"per-key"; ?r=(\d+); ?t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
      expect(Number(remaining)).toBe(left);
      expect(Number(reset)).toBeLessThanOrEqual(60);
      expect(headers.get('retry-after')).toBeNull();
    }
    const { status, headers, body } = await knock(service, key);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(headers.get('ratelimit')).toContain('r=0');
    expect(body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
  });

  test('counts each key on its own, and no call without a valid key', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId });
    const wrong = await issueKey(service, ['scale'], { haulerId });
    for (let i = 0; i < 5; i++) {
      const reply = await knock(service, wrong.key);
      expect(reply.status).toBe(CLOSED);
      expect(reply.headers.get('ratelimit')).toBeNull();
    }
    expect(await doorOf(service, key)).toBe(OPEN);
  });

  test('does not apply to the admin API', async () => {
    for (let i = 0; i < 5; i++) expect((await service.admin('GET', '/haulers')).status).toBe(200);
  });
});

test('is off by default: no header, no refusal', async () => {
  const service = await startTestApp();
  try {
    const { key } = await issueKey(service, ['account']);
    for (let i = 0; i < 20; i++) {
      const { status, headers } = await knock(service, key);
      expect(status).toBe(OPEN);
      expect(headers.get('ratelimit')).toBeNull();
      expect(headers.get('ratelimit-policy')).toBeNull();
    }
  } finally {
    await service.close();
  }
});
