import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Footage } from '../../acceptance/support/footage.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { administer, read } from '../../acceptance/support/target.js';

const CASE_MS = 240_000;

interface Report {
  readonly removed: number;
  readonly fetchedAgain: number;
  readonly data: readonly { readonly finding: string; readonly id: string }[];
  readonly unread: readonly { readonly place: string; readonly reason: string }[];
}

const check = (service: OwnService) => read<Report>('/doctor', service);
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

describe('the check of a storage that has folders of other programs', () => {
  test(
    'compares the rest, names what it could not read, and a repair leaves it (issue 46, row 10)',
    async () => {
      const service = await startOwnService();
      const footage = await Footage.create({ service });
      await footage.add({ from: 0, to: 10 }, { from: 20, to: 30 }, { from: 40, to: 50 });
      const id = await footage.idOf(0);
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
      // Two names of folders that no recording has.
      const [plain = '', link = ''] = ['0c', '0d', '0e', '0f', '1a'].filter(
        (name) => !existsSync(join(recordings, name)),
      );
      symlinkSync('loop', join(recordings, 'loop'));
      symlinkSync(link, join(recordings, link));
      writeFileSync(join(recordings, plain), 'a file in place of a folder');
      symlinkSync(ofUs, join(recordings, 'lost+found', ofUs));
      makeOld(planted);
      const before = await check(service);
      expect(before).toMatchObject({ data: [] });
      const unread = [`recordings/${plain}`, `recordings/${link}`, 'recordings/loop'];
      expect(before.unread.map(({ place }) => place).sort()).toEqual(unread);
      for (const { reason } of before.unread) expect(reason).toMatch(/\((ELOOP|ENOTDIR)\)/);

      // The folder of one recording cannot be read: it is not lost.
      const folder = id.slice(-2);
      renameSync(join(recordings, folder), join(recordings, 'put aside'));
      symlinkSync(folder, join(recordings, folder));
      const repaired = await repair(service);
      expect(repaired).toMatchObject({ removed: 0, fetchedAgain: 0, data: [] });
      expect(repaired.unread.map(({ place }) => place)).toContain(`recordings/${folder}`);
      expect(planted.filter((file) => !existsSync(file))).toEqual([]);
      expect(filesIn(join(recordings, 'put aside')).length).toBeGreaterThan(0);
    },
    CASE_MS,
  );
});
