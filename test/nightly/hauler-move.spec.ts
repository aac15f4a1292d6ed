import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { backup, restore } from '../../src/backup/commands.js';
import { exportHauler } from '../../src/backup/hauler-export.js';
import { importHauler } from '../../src/backup/hauler-import.js';
import { releaseHauler, undoImport, unlockHauler } from '../../src/backup/hauler-release.js';
import { HAULER_TABLES } from '../../src/backup/hauler-moves.repository.js';
import { parseStorageUrl } from '../../src/config/storage-url.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { openKey } from '../../src/partner-client/connection-keys.service.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import type { TestApp } from '../support/app.js';
import { commandSucceeds, newFolder, startCommand } from '../support/backup-scene.js';
import { newArchive, refusedOn, startCells, succeedOn, variablesOfCell } from '../support/cell-scene.js';
import { eventually } from '../support/eventually.js';
import { fillEmptyTables } from '../support/filled-tables.js';
import { fromSource } from '../support/from-source.js';
import { startS3Server } from '../support/s3-server.js';
import { testServer, onServer } from '../support/test-run.js';
import { TICKETS } from '../support/scale-house.js';

const UNSHARE = '/usr/bin/unshare';

const id = DEMO.haulerId;
let source: TestApp;
let target: TestApp;
let demo: Demo;
const archive = newArchive();
/** A file that is lost in the storage of the source. */
let lost: string;

beforeAll(async () => {
  ({ source, target } = await startCells());
  demo = await seedDemo(source.env, source.url);
  await eventually(async () => {
    const sql = `SELECT (SELECT count(*) FROM reference_clips) AS clips, (SELECT count(*) FROM recordings WHERE status <> 'stored') AS open`;
    expect(await source.dataSource.query(sql)).toEqual([{ clips: '1', open: '0' }]);
  });
  await onServer(source.env.DATABASE_URL, async (client) => {
    await fillEmptyTables(client);
    // Rows of others, which stay.
    await client.query(`INSERT INTO haulers (id, name) VALUES ($1, 'stays')`, [randomUUID()]);
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM recordings WHERE status = 'stored' LIMIT 1`);
    lost = rows[0]?.id ?? '';
  });
  rmSync(fileOf(source, lost));
});
afterAll(async () => {
  await target.close();
  await source.close();
});

function fileOf({ env }: TestApp, recording: string): string {
  const storage = parseStorageUrl(env.STORAGE_URL);
  const root = storage.kind === 'files' ? storage.root : '';
  return join(root, recordingFile(recording));
}

const push = (cell: TestApp, key = demo.keys.platform) =>
  cell.call<{ error?: { message: string } }>('POST', TICKETS, { headers: { 'PLATFORM-API-KEY': key }, body: {} });

/** How a replay of an earlier push is answered, with its own hauler and with the hauler named. */
async function replays(cell: TestApp) {
  const found = await eventually(async () => {
    const query = `haulerId=${id}&direction=inbound&interface=scale&status=400`;
    const { body } = await cell.admin<{ data: { id: string }[] }>('GET', `/exchanges?${query}`);
    expect(body.data).not.toEqual([]);
    return body.data;
  });
  return Promise.all(
    [{}, { haulerId: id }].map(async (body) => {
      const path = `/exchanges/${found[0]?.id}/replay`;
      const reply = await cell.admin<{ error?: { message: string } }>('POST', path, body);
      return [reply.status, reply.headers.get('retry-after'), reply.body.error?.message];
    }),
  );
}

/** The number and a sum of the rows of a hauler, of each table; the sealed keys are not equal. */
const contentOf = ({ env }: TestApp): Promise<Record<string, string>> =>
  onServer(env.DATABASE_URL, async (client) => {
    await client.query("SET TimeZone = 'UTC'");
    const content: Record<string, string> = {};
    for (const { table, by } of HAULER_TABLES.filter((each) => each.sealed === undefined)) {
      const { rows } = await client.query<{ text: string }>(
        `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS text
           FROM ${table} t WHERE ${by}::text = $1`,
        [id],
      );
      content[table] = rows[0]?.text ?? '';
    }
    return content;
  });

const exported = (to = archive) => succeedOn(source, (context) => exportHauler({ id, to }, context));
const imported = (from = archive) => succeedOn(target, (context) => importHauler({ from }, context));
const importRefused = (from = archive, cell = target, variables: NodeJS.ProcessEnv = {}) =>
  refusedOn(cell, (context) => importHauler({ from }, context), variables);

test('a dry run of the export counts, names lost files, and locks nothing', async () => {
  const to = newArchive();
  const { sentence, details } = await succeedOn(source, (context) => exportHauler({ id, to, dryRun: true }, context));
  expect(sentence).toMatch(
    /^would export the hauler .*; 1 file is lost in the storage of the source \(recordings\/.*\)/,
  );
  expect(details).toMatchObject({ rows: { haulers: 1, tickets: 1 }, lost: 1 });
  expect(existsSync(to)).toBe(false);
  expect((await push(source)).status).toBe(400);
});

test('an export that fails leaves the hauler in use', async () => {
  const to = join(newFolder(), 'absent', 'hauler.tar');
  expect(await refusedOn(source, (context) => exportHauler({ id, to }, context))).toMatch(
    /^--to: .* cannot be written/,
  );
  await eventually(async () => expect((await push(source)).status).toBe(400));
  const unknown = randomUUID();
  expect(await refusedOn(source, (context) => exportHauler({ id: unknown, to }, context))).toContain(
    `there is no hauler ${unknown}`,
  );
  expect(await refusedOn(source, (context) => exportHauler({ id: 'x', to }, context))).toContain('is not the id');
});

/** A file system of its own at a new folder, for one command in it: an ordinary user may mount it in a name space on Linux. */
async function onSmallDisk(size: string, folder: string, words: readonly string[], variables: NodeJS.ProcessEnv) {
  const mount = `mount -t tmpfs -o size=${size} none "$1" && folder="$1" && shift && { "$@"; code=$?; find "$folder" -type f; exit $code; }`;
  const program = [process.execPath, ...fromSource('src/cli/main.ts'), ...words];
  const child = spawn(UNSHARE, ['-rm', 'sh', '-c', mount, 'sh', folder, ...program], {
    env: { PATH: process.env['PATH'], TMPDIR: testServer().folder, ...variables },
  });
  const [output, errors, ended] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: (ended as [number])[0], files: output.trim(), errors };
}

test('an export onto a full disk leaves no archive, and the hauler in use', async () => {
  const folder = newFolder();
  const words = ['hauler', 'export', id, '--to', join(folder, 'hauler.tar')];
  const { code, files, errors } = await onSmallDisk('32k', folder, words, variablesOfCell(source));
  expect([code, files, errors]).toEqual([1, '', expect.stringMatching(/--to: .* cannot be written: .*ENOSPC/)]);
  await eventually(async () => expect((await push(source)).status).toBe(400));
  expect((await source.admin<{ move?: object }>('GET', `/haulers/${id}`)).body.move).toBeUndefined();
});

test('an export that was killed leaves a lock that is shown, and that ends by unlock', async () => {
  const { child, ended, output } = startCommand(
    ['hauler', 'export', id, '--to', newArchive()],
    variablesOfCell(source),
  );
  await eventually(() => expect(output()).toContain('locks the hauler'));
  await eventually(async () => expect((await push(source)).status).toBe(503));
  child.kill('SIGKILL');
  await ended;
  const { body } = await source.admin<{ move?: { state: string } }>('GET', `/haulers/${id}`);
  expect(body.move).toMatchObject({ state: 'locked', isExported: false });
  const attention = await source.admin<{ data: { kind: string; sentence: string }[] }>('GET', '/attention');
  expect(attention.body.data.find(({ kind }) => kind === 'locked-haulers')?.sentence).toContain('hauler unlock');
  await eventually(() => commandSucceeds(['hauler', 'unlock', id], variablesOfCell(source)));
  await eventually(async () => expect((await push(source)).status).toBe(400));
});

test('an export locks the hauler: changes are 503 with Retry-After, reads go on', async () => {
  const before = await contentOf(source);
  const { sentence, details } = await exported();
  expect(sentence).toContain('is locked in cell a');
  expect(details).toMatchObject({ lost: 1, lostNames: [expect.stringContaining(lost)] });
  const refused = await push(source);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(refused.body.error?.message).toContain('moving to another cell');
  for (const refusal of await replays(source)) {
    expect(refusal).toEqual([503, '5', expect.stringContaining('moving to another cell')]);
  }
  const read = await source.call('GET', '/partner/v1/me', { headers: { 'PLATFORM-API-KEY': demo.keys.platform } });
  expect(read.status).toBe(200);
  const after = await contentOf(source);
  // The refused pushes and the reads are in the log of the source.
  expect({ ...after, exchanges: '', api_keys: '' }).toEqual({ ...before, exchanges: '', api_keys: '' });
  expect(readFileSync(archive).includes(demo.keys.partner)).toBe(false);
});

test('an import refuses what does not fit, and stores nothing', async () => {
  expect(await importRefused(archive, target, { SOURCE_SECRETS_KEY: '' })).toContain('set SOURCE_SECRETS_KEY');
  expect(await importRefused(archive, source, { SOURCE_SECRETS_KEY: '' })).toMatch(
    /same STORAGE_URL|this is its source/,
  );
  const elsewhere = { SOURCE_SECRETS_KEY: '', STORAGE_URL: `file:${newFolder()}` };
  expect(await importRefused(archive, source, elsewhere)).toContain('this is its source');
  const bytes = readFileSync(archive);
  for (const at of [600, bytes.length >> 1, bytes.length - 3000]) {
    const damaged = newArchive();
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    writeFileSync(damaged, copy);
    expect(await importRefused(damaged)).toMatch(/damaged/);
  }
  const whole = newArchive();
  await succeedOn(source, (context) => backup({ to: whole }, context));
  expect(await importRefused(whole, target)).toContain('use restore');
  expect(await refusedOn(source, (context) => restore({ from: archive }, context))).toContain('use hauler import');
  expect(await importRefused(join(newFolder(), 'absent.tar'))).toContain('cannot be read');
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
});

test('an archive that was cut, or is of another hauler than the one named, is refused before anything is stored', async () => {
  const before = await contentOf(target);
  const bytes = readFileSync(archive);
  const cuts = [0, 100, 512, 5_000, bytes.length >> 1, bytes.length - 1_024, bytes.length - 1];
  for (const length of cuts) {
    const cut = newArchive();
    writeFileSync(cut, bytes.subarray(0, length));
    const sentence = await importRefused(cut);
    expect([length, sentence]).toEqual([length, expect.stringMatching(/damaged|is not a backup/)]);
  }
  const other = randomUUID();
  const sentence = await refusedOn(target, (context) => importHauler({ from: archive, id: other }, context));
  expect(sentence).toMatch(new RegExp(`^it is the archive of the hauler ${id} \\(.*\\), and not of ${other}$`));
  const { ended, output } = startCommand(['hauler', 'import', other, '--from', archive], variablesOfCell(target));
  expect([await ended, output()]).toEqual([1, expect.stringContaining(`and not of ${other}`)]);
  expect(await contentOf(target)).toEqual(before);
});

test('an import of a hauler that exists at the target already is refused by its name, and changes nothing', async () => {
  await target.admin('POST', '/haulers', { id, name: 'Older than the move' });
  const before = await contentOf(target);
  try {
    const sentence = `there is a hauler ${id} here already (Older than the move)`;
    expect(await importRefused(archive)).toBe(sentence);
    expect(await refusedOn(target, (context) => importHauler({ from: archive, dryRun: true }, context))).toBe(sentence);
    expect(await contentOf(target)).toEqual(before);
  } finally {
    await target.dataSource.query('DELETE FROM haulers WHERE id = $1', [id]);
  }
});

test('a dry run of the import checks all of it, and stores nothing', async () => {
  const { sentence } = await succeedOn(target, (context) => importHauler({ from: archive, dryRun: true }, context));
  expect(sentence).toMatch(/^could import the hauler .* nothing was stored$/);
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
});

test('an import that was killed has stored no row, and can be repeated', async () => {
  const { child, ended, output } = startCommand(['hauler', 'import', '--from', archive], variablesOfCell(target));
  await eventually(() => expect(output()).toContain('stores the files'));
  child.kill('SIGKILL');
  await ended;
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
});

test('an archive of a newer schema is refused by its name, and nothing is stored', async () => {
  const newer = newArchive();
  const sql = 'INSERT INTO migrations (timestamp, name) VALUES (9999999999999, $1)';
  await source.dataSource.query(sql, ['OfTomorrow9999999999999']);
  try {
    await exported(newer);
  } finally {
    await source.dataSource.query(`DELETE FROM migrations WHERE name = 'OfTomorrow9999999999999'`);
  }
  expect(await importRefused(newer)).toMatch(/with a newer schema \(OfTomorrow9999999999999\): run the same version/);
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
});

test('an import into a full storage stores no row and no file; the source stays locked, with the way back', async () => {
  const folder = newFolder();
  const variables = { ...variablesOfCell(target), STORAGE_URL: `file:${folder}` };
  const { code, files, errors } = await onSmallDisk('64k', folder, ['hauler', 'import', '--from', archive], variables);
  expect([code, errors]).toEqual([1, expect.stringMatching(/storage is full|ENOSPC/)]);
  expect(files.split('\n').filter((name) => name.endsWith('.mp4'))).toEqual([]);
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
  expect(Object.values(await contentOf(target)).filter((content) => !content.startsWith('0 '))).toEqual([]);
  const { body } = await source.admin<{ move?: { state: string } }>('GET', `/haulers/${id}`);
  expect(body.move).toMatchObject({ state: 'locked', isExported: true });
  const attention = await source.admin<{ data: { kind: string; sentence: string }[] }>('GET', '/attention');
  expect(attention.body.data.find(({ kind }) => kind === 'locked-haulers')?.sentence).toContain('hauler unlock');
});

test('an import stores every row, the keys of partners under the other key, and every file', async () => {
  const { sentence, details } = await imported();
  expect(sentence).toContain('in cell b');
  expect(details).toMatchObject({ lost: 1, lostNames: [expect.stringContaining(lost)], from: 'a' });
  const without = (content: Record<string, string>): Record<string, string> => ({
    ...content,
    exchanges: '',
    api_keys: '',
  });
  // The target works already: a run or a download may have changed a row.
  const [there, here] = [without(await contentOf(source)), without(await contentOf(target))];
  for (const table of ['tickets', 'ticket_revisions', 'accounts', 'sites', 'reference_clips'])
    expect([table, here[table]]).toEqual([table, there[table]]);
  const [connection] = await target.dataSource.query<{ id: string; sealed_key: string }[]>(
    `SELECT id, sealed_key FROM connections WHERE hauler_id = $1 AND interface = 'site' AND deleted_at IS NULL`,
    [id],
  );
  expect(openKey(target.env.SECRETS_KEY, connection?.id ?? '', connection?.sealed_key ?? '')).toBe(demo.keys.partner);
  const files = await target.dataSource.query<{ id: string; sha256: string }[]>(
    `SELECT id, sha256 FROM recordings WHERE status = 'stored' AND id <> $1`,
    [lost],
  );
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const content = readFileSync(fileOf(target, file.id));
    expect(createHash('sha256').update(content).digest('hex')).toBe(file.sha256);
  }
  // The key that the partner has, with the name of the cell that issued it.
  expect(demo.keys.platform).toMatch(/^hb_a_/);
  expect((await push(target)).status).toBe(400);
  expect(await importRefused()).toContain('was imported here already');
});

test('an import is undone before the release, unless something came meanwhile', async () => {
  const sql = 'UPDATE tickets SET updated_at = now() WHERE hauler_id = $1';
  await target.dataSource.query(sql, [id]);
  expect(await refusedOn(target, (context) => undoImport({ id }, context))).toContain('pass --discard');
  expect((await push(target)).status).toBe(400);
  await succeedOn(target, (context) => undoImport({ id, discard: true }, context));
  expect((await target.admin('GET', `/haulers/${id}`)).status).toBe(404);
  expect(Object.values(await contentOf(target)).filter((content) => !content.startsWith('0 '))).toEqual([]);
  const unlocked = await succeedOn(source, (context) => unlockHauler({ id }, context));
  expect(unlocked.sentence).toContain('hauler import --undo');
  await eventually(async () => expect((await push(source)).status).toBe(400));
  expect(await refusedOn(source, (context) => releaseHauler({ id }, context))).toContain('no finished export');
});

test('a release deletes the hauler at the source, whose keys are 503 there, and prints the routes', async () => {
  await exported();
  await imported();
  const { sentence, details } = await succeedOn(source, (context) => releaseHauler({ id, to: 'b' }, context));
  const prefix = demo.keys.platform.slice(0, 'hb_a_'.length + 8);
  expect(sentence).toContain(`${prefix} b\n`);
  expect(details).toMatchObject({ to: 'b', routes: { nginx: expect.arrayContaining([`~^${prefix} b;`]) } });
  const left = Object.entries(await contentOf(source)).filter(([, content]) => !content.startsWith('0 '));
  expect(left.map(([table]) => table).sort()).toEqual(['api_keys', 'haulers']);
  const refused = await eventually(async () => {
    const reply = await push(source);
    expect(reply.headers.get('retry-after')).toBe('30');
    return reply;
  });
  expect([refused.status, refused.body.error?.message]).toEqual([503, expect.stringContaining('has moved')]);
  expect(await refusedOn(source, (context) => unlockHauler({ id }, context))).toContain('was released here');
  expect((await source.admin<{ data: { name: string }[] }>('GET', '/haulers')).body.data).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'stays' })]),
  );
});

test('a hauler moves back to where it was released, by a bucket', async () => {
  const s3 = await startS3Server();
  const back = s3.storageUrl('moves/hauler.tar');
  const { sentence } = await succeedOn(target, (context) => exportHauler({ id, to: back }, context));
  expect(sentence).toContain('is locked in cell b');
  const absent = s3.storageUrl('moves/other.tar');
  expect(await importRefused(absent, source)).toContain('--from: there is no object');
  await succeedOn(source, (context) => importHauler({ from: back, dryRun: true }, context));
  await succeedOn(source, (context) => importHauler({ from: back }, context));
  expect((await push(source)).status).toBe(400);
  expect(await s3.keysOfUploads()).toEqual([]);
  await s3.stop();
});
