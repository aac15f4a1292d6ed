import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exportHauler } from '../../src/backup/hauler-export.js';
import { importHauler } from '../../src/backup/hauler-import.js';
import { HAULER_TABLES } from '../../src/backup/hauler-moves.repository.js';
import { parseStorageUrl } from '../../src/config/storage-url.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { openKey } from '../../src/partner-client/connection-keys.service.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import type { TestApp } from '../support/app.js';
import { newArchive, startCells, succeedOn } from '../support/cell-scene.js';
import { eventually } from '../support/eventually.js';
import { fillEmptyTables } from '../support/filled-tables.js';
import { onServer } from '../support/test-run.js';
import { TICKETS } from '../support/scale-house.js';

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
    expect(await source.dataSource.query(sql)).toEqual([{ clips: '2', open: '0' }]);
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

test('a hauler is exported whole, and an import stores every row, the keys of partners under the other key, and every file', async () => {
  const exported = await succeedOn(source, (context) => exportHauler({ id, to: archive }, context));
  expect(exported.details).toMatchObject({ lost: 1, lostNames: [expect.stringContaining(lost)] });
  expect(readFileSync(archive).includes(demo.keys.partner)).toBe(false);
  const refused = await push(source);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  const { sentence, details } = await succeedOn(target, (context) => importHauler({ from: archive }, context));
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
});
