import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { HostedCustomer } from '../acceptance/support/hosted.js';
import { type OwnService, startOwnService } from '../acceptance/support/service.js';
import { administer } from '../acceptance/support/target.js';
import { heldChild } from '../support/held.js';
import { sampleVideo } from '../support/sample-video.js';
import { TEST_SECRETS_KEY } from '../support/test-run.js';

/** An export and an import wait for other instances: 15 s of the time. */
const CASE_MS = 240_000;
const PROGRAM = join(import.meta.dirname, '../../dist/src/cli/main.js');

const check = (service: OwnService) => administer<object>('GET', '/doctor', undefined, service);
const repair = (service: OwnService) => administer<object>('POST', '/doctor/repair', { removeOrphans: true }, service);

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

test(
  'a repair that removes files without a row leaves those of an import that runs, and removes others (issue 46, row 3)',
  async () => {
    const [source, cell] = [
      await startOwnService({ env: { CELL: 'a' } }),
      await startOwnService({ env: { CELL: 'b' } }),
    ];
    const { id } = await administer<{ id: string }>('POST', '/haulers', { name: 'Moves' }, source);
    const customer = await HostedCustomer.create(source, { haulerId: id });
    const count = 12;
    for (let minute = 0; minute < count; minute++)
      expect((await customer.upload(minute, { customerId: id }, sampleVideo(4 * 1024 * 1024))).status).toBe(201);
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
