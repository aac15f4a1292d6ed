import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { heldChild } from '../../support/held.js';
import { sampleVideo } from '../../support/sample-video.js';
import { TEST_SECRETS_KEY } from '../../support/test-run.js';
import { Footage } from '../support/footage.js';
import { HostedCustomer } from '../support/hosted.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer } from '../support/target.js';

const CASE_MS = 240_000;
const PROGRAM = join(import.meta.dirname, '../../../dist/src/cli/main.js');

interface Report {
  readonly removed: number;
  readonly fetchedAgain: number;
  readonly data: readonly { readonly finding: string; readonly id: string }[];
  readonly unread: readonly { readonly place: string; readonly reason: string }[];
}

const check = (service: OwnService) => administer<Report>('GET', '/doctor', undefined, service);
const repair = (service: OwnService) => administer<Report>('POST', '/doctor/repair', { removeOrphans: true }, service);

const videos = ({ dataDir }: OwnService): string => join(dataDir, 'videos');

/** The files below a folder, by their paths. */
const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() && entry.name.endsWith('.mp4') ? [join(entry.parentPath, entry.name)] : [],
      )
    : [];

function makeOld(paths: readonly string[]): void {
  const old = new Date(Date.now() - 86_400_000);
  for (const path of paths) utimesSync(path, old, old);
}

describe('a repair that removes files without a row', () => {
  test(
    'leaves those of an import that runs, and removes others (issue 46, row 3)',
    async () => {
      const [source, cell] = [
        await startOwnService({ env: { CELL: 'a' } }),
        await startOwnService({ env: { CELL: 'b' } }),
      ];
      const { id } = await administer<{ id: string }>('POST', '/haulers', { name: 'Moves' }, source);
      const customer = await HostedCustomer.create(source, { haulerId: id });
      const count = 6;
      for (let minute = 0; minute < count; minute++)
        expect((await customer.upload(minute, { customerId: id }, sampleVideo(24 * 1024 * 1024))).status).toBe(201);
      const command = (service: OwnService, words: readonly string[]) => {
        const { databaseUrl, dataDir } = service;
        const own = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, SECRETS_KEY: TEST_SECRETS_KEY };
        const env = { PATH: process.env['PATH'], ...own, CELL: service === source ? 'a' : 'b' };
        const child = spawn(process.execPath, [PROGRAM, 'hauler', ...words], { env, stdio: 'ignore' });
        heldChild(child);
        return child;
      };
      const archive = join(source.dataDir, 'hauler.tar');
      expect(await once(command(source, ['export', id, '--to', archive]), 'exit')).toEqual([0, null]);

      const importing = command(cell, ['import', id, '--from', archive]);
      const ended = once(importing, 'exit');
      const folder = join(videos(cell), 'reference-recordings');
      while (filesIn(folder).length < 2 && importing.exitCode === null) await delay(5);
      importing.kill('SIGSTOP');
      const stored = filesIn(folder);
      expect([importing.exitCode, stored.length > 0, stored.length < count]).toEqual([null, true, true]);
      makeOld(stored);
      expect(await check(cell)).toMatchObject({ data: [] });
      expect(await repair(cell)).toMatchObject({ removed: 0 });
      importing.kill('SIGCONT');
      expect(await ended).toEqual([0, null]);
      expect(filesIn(folder)).toHaveLength(count);

      const orphan = join(folder, '00', '01990000-0000-4000-8000-000000000000.mp4');
      mkdirSync(join(folder, '00'), { recursive: true });
      writeFileSync(orphan, 'x');
      makeOld([...filesIn(folder), orphan]);
      expect(await repair(cell)).toMatchObject({ removed: 1 });
      expect(filesIn(folder)).toHaveLength(count);
    },
    CASE_MS,
  );
});

describe('the check of a storage that has folders of other programs', () => {
  test(
    'compares the rest, names what it could not read, and a repair leaves it (issue 46, row 10)',
    async () => {
      const service = await startOwnService();
      const footage = await Footage.create({ service });
      await footage.add({ from: 0, to: 10 }, { from: 20, to: 30 }, { from: 40, to: 50 });
      const recordings = join(videos(service), 'recordings');
      expect(await check(service)).toMatchObject({ data: [], unread: [] });

      const foreign = ['lost+found', '@eaDir', '.snapshot', '.Trash-1000', 'Backups of May'];
      const ofUs = '01990000-0000-7000-8000-0000000000ab.mp4';
      const planted = [recordings, videos(service), join(videos(service), '.partial')].flatMap((parent) =>
        foreign.map((name) => {
          mkdirSync(join(parent, name, 'ab'), { recursive: true });
          const file = join(parent, name, 'ab', ofUs);
          writeFileSync(file, 'x');
          return file;
        }),
      );
      symlinkSync('loop', join(recordings, 'loop'));
      symlinkSync('0f', join(recordings, '0f'));
      writeFileSync(join(recordings, '2020-01-01'), 'a file in place of a folder');
      symlinkSync(ofUs, join(recordings, 'lost+found', ofUs));
      makeOld(planted);
      const before = await check(service);
      expect(before).toMatchObject({ data: [] });
      expect(before.unread.map(({ place }) => place).sort()).toEqual([
        'recordings/0f',
        'recordings/2020-01-01',
        'recordings/loop',
      ]);
      for (const { reason } of before.unread) expect(reason).toMatch(/\((ELOOP|ENOTDIR)\)/);

      // The folder of one day cannot be read: its recordings are not lost.
      const [day = ''] = readdirSync(recordings).filter((name) => /^\d{4}-(?!01-01)/.test(name));
      renameSync(join(recordings, day), join(recordings, 'put aside'));
      symlinkSync(day, join(recordings, day));
      const repaired = await repair(service);
      expect(repaired).toMatchObject({ removed: 0, fetchedAgain: 0, data: [] });
      expect(repaired.unread.map(({ place }) => place)).toContain(`recordings/${day}`);
      expect(planted.filter((file) => !existsSync(file))).toEqual([]);
      expect(filesIn(join(recordings, 'put aside')).length).toBeGreaterThan(0);
    },
    CASE_MS,
  );
});
