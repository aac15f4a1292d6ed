import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import { answerOf, commandsBeside, runCommand } from '../support/command-line.js';
import { idOf, kiosk, material, site } from '../support/site-data.js';
import { SiteScene } from '../support/site-scene.js';

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

interface List {
  readonly data: SyncRun[];
}

describe('connection sync', () => {
  test('asks the running service for a run, also of a paused connection', async () => {
    const { runId } = await answerOf<{ runId: string }>('connection', 'sync', scene.connectionId);
    expect(await scene.ended(runId)).toMatchObject({ status: 'succeeded', connectionId: scene.connectionId });
  });

  test('of an unknown connection fails, of no uuid is wrong usage', async () => {
    expect(await runCommand('connection', 'sync', UNKNOWN)).toMatchObject({ code: 1, out: '' });
    expect(await runCommand('connection', 'sync', 'x')).toMatchObject({ code: 2, out: '' });
  });
});

describe.each([
  ['site', 2],
  ['kiosk', 1],
  ['material', 2],
])('%s list', (kind, count) => {
  const list = (...words: string[]) => answerOf<{ data: unknown[] }>(kind, 'list', ...words);

  test('answers as the admin API does, whatever is asked for', async () => {
    const asked: [string[], string][] = [
      [[], ''],
      [['--hauler-id', scene.haulerId, '--page', '1', '--page-size', '1'], `haulerId=${scene.haulerId}&pageSize=1`],
      [['--site-id', idOf('a')], `siteId=${idOf('a')}`],
      [['--active', 'true'], 'active=true'],
      [['--active', 'false'], 'active=false'],
    ];
    for (const [words, query] of asked) {
      expect(await list(...words)).toEqual((await scene.service.admin('GET', `/${kind}s?${query}`)).body);
    }
  });

  test('of a site, of a hauler', async () => {
    expect((await list()).data).toHaveLength(count);
    expect((await list('--site-id', idOf('a'))).data).toHaveLength(1);
    expect((await list('--hauler-id', UNKNOWN)).data).toEqual([]);
  });

  test.each([
    ['--active must be true or false', '--active', 'yes'],
    ['--site-id must be a UUID', '--site-id', 'x'],
  ])('%s', async (sentence, ...words) => {
    const err = expect.stringContaining(`error: ${sentence}`);
    expect(await runCommand(kind, 'list', ...words)).toEqual({ code: 2, out: '', err });
  });
});

test('connection show answers as the admin API does', async () => {
  const { body } = await scene.service.admin('GET', `/connections/${scene.connectionId}`);
  expect(await answerOf('connection', 'show', scene.connectionId)).toEqual(body);
});

describe('sync-run', () => {
  test('list, show and quarantine answer as the admin API does', async () => {
    const api = async (path: string) => (await scene.service.admin('GET', path)).body;
    expect(await answerOf('sync-run', 'list')).toEqual(await api('/sync-runs'));
    expect(await answerOf('sync-run', 'show', first.id)).toEqual(await api(`/sync-runs/${first.id}`));
    const quarantine = await answerOf<{ data: unknown[] }>('sync-run', 'quarantine', first.id);
    expect(quarantine).toEqual(await api(`/sync-runs/${first.id}/quarantine`));
    expect(quarantine.data).toHaveLength(1);
  });

  test('list of a connection, of a status', async () => {
    const list = async (...words: string[]) => (await answerOf<List>('sync-run', 'list', ...words)).data.length;
    expect(await list('--connection-id', scene.connectionId)).toBeGreaterThan(0);
    expect(await list('--connection-id', UNKNOWN)).toBe(0);
    expect(await list('--status', 'failed')).toBe(0);
    expect(await runCommand('sync-run', 'list', '--status', 'done')).toMatchObject({ code: 2 });
  });

  test('confirm applies what is held; twice fails', async () => {
    const held = await scene.sync({ sites: [] });
    expect(held.status).toBe('held');
    expect(await answerOf('sync-run', 'confirm', held.id)).toMatchObject({ id: held.id, status: 'succeeded' });
    expect(await scene.sites('&active=true')).toEqual([]);
    expect(await runCommand('sync-run', 'confirm', held.id)).toMatchObject({ code: 1, out: '' });
  });

  test('for people a run is shown field by field', async () => {
    const { code, out } = await runCommand('sync-run', 'show', first.id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^id +${first.id}\nconnectionId +${scene.connectionId}\nstatus +succeeded\n`));
  });

  test.each(['show', 'quarantine', 'confirm'])(
    '%s of an unknown run fails, of no uuid is wrong usage',
    async (word) => {
      expect(await runCommand('sync-run', word, UNKNOWN)).toMatchObject({ code: 1, out: '' });
      expect(await runCommand('sync-run', word, 'x')).toMatchObject({ code: 2, out: '' });
    },
  );

  test.each(['list', 'show', 'quarantine', 'confirm'])('%s --help explains itself', async (word) => {
    const { code, out } = await runCommand('sync-run', word, '--help');
    expect([code, out]).toEqual([0, expect.stringContaining('--json')]);
  });
});
