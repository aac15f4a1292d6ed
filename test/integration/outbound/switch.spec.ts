import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SiteScene } from '../../support/site-scene.js';
import { endLease, giveLaneAway, makeConnectionDue } from '../../support/time.js';

interface Outbound {
  readonly enabled: boolean;
  readonly reason?: string;
  readonly since?: string;
}

const NOTHING = { sites: [], kiosks: [], materials: [] };

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start();
});
afterAll(() => scene.stop());
beforeEach(() => scene.renew());

const set = (body: { enabled: boolean; reason?: string }) => scene.service.admin<Outbound>('PUT', '/outbound', body);

test('while the calls are switched off, nothing calls a partner and due work waits', async () => {
  scene.answers(NOTHING);
  const off = await set({ enabled: false, reason: 'a copy of the database is examined' });
  expect(off.body).toMatchObject({ enabled: false, reason: 'a copy of the database is examined' });
  expect(Date.now() - Date.parse(off.body.since ?? '')).toBeLessThan(60_000);
  const { body } = await scene.service.admin<{ data: { kind: string; sentence: string }[] }>('GET', '/attention');
  expect(body.data.find(({ kind }) => kind === 'outbound-off')?.sentence).toContain(
    'a copy of the database is examined',
  );
  const runId = await scene.request();
  const check = await scene.service.admin<{ reachable: boolean; findings: { message: string }[] }>(
    'POST',
    `/connections/${scene.connectionId}/check`,
  );
  expect(check.body.reachable).toBe(false);
  expect(JSON.stringify(check.body)).toContain(
    'Calls to partners are switched off: a copy of the database is examined',
  );
  for (let i = 0; i < 3; i++) {
    scene.hurry();
    expect((await scene.run(runId)).status).toBe('queued');
  }
  const switchedOn = performance.now();
  expect((await set({ enabled: true })).body).toEqual({ enabled: true });
  scene.hurry();
  expect((await scene.ended(runId)).status).not.toBe('failed');
  expect(scene.partner.asked.length).toBeGreaterThan(0);
  expect(scene.partner.asked.filter(({ at }) => at < switchedOn)).toEqual([]);
});

test('work that waits for the switch is not late; work that no instance takes is, until one does (decision 69)', async () => {
  const { service } = scene;
  const late = async () => {
    const { body } = await service.admin<{ data: { kind: string; subject: string; severity: string }[] }>(
      'GET',
      '/attention',
    );
    return body.data.filter(({ kind }) => kind === 'late-work').map(({ subject, severity }) => [subject, severity]);
  };
  const oldest = async () => {
    const { text } = await service.call('GET', '/metrics', {
      headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
    });
    return Number(new RegExp(`^work_oldest_due_seconds\\{kind="${SITE_SYNC_WORK}"\\} (.+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  scene.answers(NOTHING);
  await set({ enabled: false });
  const runId = await scene.request();
  await makeConnectionDue(service, scene.connectionId, -20 * 60);
  expect([await late(), await oldest()]).toEqual([[], 0]);
  await giveLaneAway(service, SITE_SYNC_WORK, scene.connectionId);
  await set({ enabled: true });
  expect(await late()).toEqual([[SITE_SYNC_WORK, 'soon']]);
  expect(await oldest()).toBeGreaterThan(900);
  await endLease(service, scene.connectionId);
  scene.hurry();
  await scene.ended(runId);
  expect(await late()).toEqual([]);
});

test('another instance follows', async () => {
  const other = await startTestApp({ on: scene.service });
  const reasonOfCheck = async () => {
    const { text } = await other.admin('POST', `/connections/${scene.connectionId}/check`);
    return text;
  };
  await set({ enabled: false });
  await eventually(async () => expect(await reasonOfCheck()).toContain('an admin has switched the calls off'));
  await set({ enabled: true });
  await eventually(async () => expect(await reasonOfCheck()).not.toContain('switched'));
  await other.close();
});
