import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SyncRun } from '../../../src/contracts/admin/sync-run.dto.js';
import { answerOf, commandsBeside, runCommand } from '../../support/command-line.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { SiteScene } from '../../support/site-scene.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let scene: SiteScene;
let leave: () => void;
let first: SyncRun;

beforeAll(async () => {
  scene = await SiteScene.start();
  leave = commandsBeside(scene.service);
  await scene.renew();
  first = await scene.sync({
    sites: [site('a'), site('b'), site('c', { name: 7 })],
    kiosks: [kiosk('k', 'a')],
    materials: [material('m', { kioskId: idOf('k') }), material('n', { siteId: idOf('b') })],
  });
});
afterAll(async () => {
  leave();
  await scene.stop();
});

const api = async (path: string) => (await scene.service.admin('GET', path)).body;

test('a run that quarantined records says so beside its status', async () => {
  const { out } = await runCommand('sync-run', 'show', first.id);
  expect(out).toMatch(/^status +succeeded\nattention +1 of 6 records are in quarantine/m);
});

describe('connection', () => {
  test('show returns what the admin API does', async () => {
    expect(await answerOf('connection', 'show', scene.connectionId)).toEqual(
      await api(`/connections/${scene.connectionId}`),
    );
  });

  test('sync starts a run of the service, also of a paused connection', async () => {
    const { runId } = await answerOf<{ runId: string }>('connection', 'sync', scene.connectionId);
    expect(await scene.ended(runId)).toMatchObject({ status: 'succeeded', connectionId: scene.connectionId });
  });

  test('change, check and remove change, check and remove it', async () => {
    const { haulerId } = scene;
    const words = ['--hauler-id', haulerId, '--interface', 'site', '--base-url', scene.partner.url, '--api-key', 'k'];
    const added = await answerOf<{ id: string }>('connection', 'add', ...words, '--enabled', 'false');
    const changed = await answerOf(
      'connection',
      'change',
      added.id,
      '--interval-seconds',
      '120',
      '--next-api-key',
      'n',
    );
    expect(changed).toMatchObject({ id: added.id, intervalSeconds: 120, enabled: false, hasNextApiKey: true });
    expect(await answerOf('connection', 'check', added.id)).toMatchObject({ reachable: true });
    expect(await runCommand('connection', 'remove', added.id)).toEqual({ code: 0, out: '', err: '' });
    expect(await runCommand('connection', 'sync', added.id)).toMatchObject({ code: 1, out: '' });
  });

  test.each([
    ['--interval-seconds must be a whole number', ['--interval-seconds', 'often']],
    ['--enabled must be true or false', ['--enabled', 'perhaps']],
  ])('change: %s', async (sentence, words) => {
    const err = expect.stringContaining(`error: ${sentence}`);
    expect(await runCommand('connection', 'change', scene.connectionId, ...words)).toEqual({ code: 2, out: '', err });
  });
});

describe.each([
  ['site', 2],
  ['kiosk', 1],
  ['material', 2],
])('%s list', (kind, count) => {
  test.each([
    [[], ''],
    [['--page', '1', '--page-size', '1'], 'pageSize=1'],
    [['--active', 'true'], 'active=true'],
    [['--active', 'false'], 'active=false'],
    [['--site-id', idOf('a')], `siteId=${idOf('a')}`],
    [['--hauler-id', UNKNOWN], `haulerId=${UNKNOWN}`],
  ])('%j returns what the admin API does', async (words, query) => {
    expect(await answerOf(kind, 'list', ...words)).toEqual(await api(`/${kind}s?${query}`));
  });

  test('has all records', async () => {
    expect((await answerOf<{ data: unknown[] }>(kind, 'list')).data).toHaveLength(count);
  });
});

describe('sync-run', () => {
  test('list, show and quarantine return what the admin API does', async () => {
    expect(await answerOf('sync-run', 'list')).toEqual(await api('/sync-runs'));
    expect(await answerOf('sync-run', 'show', first.id)).toEqual(await api(`/sync-runs/${first.id}`));
    const quarantine = await answerOf<{ data: unknown[] }>('sync-run', 'quarantine', first.id);
    expect(quarantine).toEqual(await api(`/sync-runs/${first.id}/quarantine`));
    expect(quarantine.data).toHaveLength(1);
  });

  test('show prints the counts of a run in words', async () => {
    const { out } = await runCommand('sync-run', 'show', first.id);
    expect(out).toMatch(
      /^counts +sites: created 2, received 3, quarantined 1; kiosks: created 1, received 1; materials: /m,
    );
  });

  test('list filters by connection and status', async () => {
    const count = async (...words: string[]) =>
      (await answerOf<{ data: SyncRun[] }>('sync-run', 'list', ...words)).data.length;
    expect(await count('--connection-id', scene.connectionId)).toBeGreaterThan(0);
    expect(await count('--connection-id', UNKNOWN)).toBe(0);
    expect(await count('--status', 'failed')).toBe(0);
    expect(await runCommand('sync-run', 'list', '--status', 'done')).toMatchObject({ code: 2 });
  });

  test('confirm applies the held removals once', async () => {
    const held = await scene.sync({ sites: [] });
    expect(held.status).toBe('held');
    expect(await answerOf('sync-run', 'confirm', held.id)).toMatchObject({ id: held.id, status: 'succeeded' });
    expect(await scene.sites('&active=true')).toEqual([]);
    expect(await runCommand('sync-run', 'confirm', held.id)).toMatchObject({ code: 1, out: '' });
  });

  test('show for people prints one field in each line', async () => {
    const { code, out } = await runCommand('sync-run', 'show', first.id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^id +${first.id}\nconnectionId +${scene.connectionId}\nstatus +succeeded\n`));
  });
});
