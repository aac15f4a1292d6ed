import { randomUUID } from 'node:crypto';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { StorageRepair } from '../../../../src/contracts/admin/storage.routes.js';
import { type Storage, STORAGE } from '../../../../src/core/storage/storage.js';
import { storageName } from '../../../../src/core/storage/storage-names.js';
import { whileAnnounced } from '../../../../src/core/storage/inventory.repository.js';
import { recordingFile } from '../../../../src/vision/recordings/recording.rules.js';
import type { TestApp } from '../../../support/app.js';
import { commandsBeside, runCommand } from '../../../support/command-line.js';
import { becomes, chunk, DownloadScene } from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { hurryVideo } from '../../../support/time.js';
import { resetVision } from '../../../support/vision-partner.js';

const ORPHAN = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const HOUR_MS = 3_600_000;

/** A file without a row that is an hour old. */
async function addOrphan(folder: string): Promise<void> {
  const file = join(folder, storageName('recordings', ORPHAN));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, sampleVideo(500));
  const old = new Date(Date.now() - HOUR_MS);
  await utimes(file, old, old);
}

const repair = async (...words: string[]) => {
  const { code, out } = await runCommand('storage', 'repair', '--json', ...words);
  expect(code).toBe(0);
  return JSON.parse(out) as StorageRepair;
};

describe('storage repair', () => {
  let scene: DownloadScene;
  let app: TestApp;
  let leave: () => void;
  beforeAll(async () => {
    scene = await DownloadScene.start();
    app = await scene.service();
    leave = commandsBeside(app);
  });
  afterEach(() => resetVision(app, scene.partner));
  afterAll(async () => {
    leave();
    await scene.stop();
  });

  const storage = () => app.app.get<Storage>(STORAGE, { strict: false });
  const shown = async (id: string) =>
    (await app.admin<{ status: string; reason?: string; reasonCode?: string }>('GET', `/recordings/${id}`)).body;

  test('fetches a lost recording again, marks it where the partner lists it no more, and changes nothing in a dry run', async () => {
    const listed = [chunk(1, scene.partner.link(sampleVideo(1_000)))];
    const connectionId = await scene.follow(app, () => listed);
    const { id } = await becomes(app, connectionId, { status: 'stored' });
    await storage().delete(recordingFile(id));
    const lost = { finding: 'file-lost', table: 'recordings', id, remedy: 'fetchedAgain' };
    expect(await repair('--dry-run')).toMatchObject({
      dryRun: true,
      fetchedAgain: 1,
      removed: 0,
      none: 0,
      data: [lost],
    });
    expect(await shown(id)).toMatchObject({ status: 'stored' });
    expect(await repair()).toMatchObject({ dryRun: false, fetchedAgain: 1, data: [lost] });
    await becomes(app, connectionId, { status: 'stored' });
    expect((await app.admin('GET', `/recordings/${id}/content`)).status).toBe(200);
    expect(await repair()).toMatchObject({ fetchedAgain: 0, data: [] });

    await storage().delete(recordingFile(id));
    listed.length = 0;
    const { out } = await runCommand('storage', 'repair');
    expect(out).toContain('1 recordings fetched again, 0 files removed, 0 differences left as they are');
    await eventually(async () => {
      await hurryVideo(app);
      // A list that was read before may still have brought it.
      await storage().delete(recordingFile(id));
      await repair();
      expect(await shown(id)).toMatchObject({ reasonCode: 'notListed', reason: expect.any(String) });
    });
  });

  test('with --remove-orphans lists a file without a row, and removes it with the flag only', async () => {
    await addOrphan(fileURLToPath(app.env.STORAGE_URL));
    const orphan = { finding: 'row-lost', id: ORPHAN };
    expect(await repair()).toMatchObject({ removed: 0, none: 1, data: [{ ...orphan, remedy: 'none' }] });
    expect(await repair('--remove-orphans', '--dry-run')).toMatchObject({ data: [{ ...orphan, remedy: 'removed' }] });
    expect(await repair('--remove-orphans')).toMatchObject({ removed: 1, none: 0 });
    expect(await repair('--remove-orphans')).toMatchObject({ removed: 0, data: [] });
  });

  test('with --remove-orphans leaves a file that an instance is storing, however old it is (issue 46, row 3)', async () => {
    await addOrphan(fileURLToPath(app.env.STORAGE_URL));
    await whileAnnounced(app.database, storageName('recordings', ORPHAN), async () => {
      expect(await repair('--remove-orphans')).toMatchObject({ removed: 0, none: 0, data: [] });
    });
    await whileAnnounced(app.database, storageName('recordings', randomUUID()), async () => {
      expect(await repair('--remove-orphans')).toMatchObject({ removed: 1, none: 0 });
    });
  });
});
