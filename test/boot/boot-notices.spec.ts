import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';

/** A line of the log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly path?: string;
  readonly status?: number;
}

const WARN = 40;
const REASON = 'The video storage failed: not a directory (ENOTDIR).';

let service: TestApp;
beforeAll(async () => void (service = await startTestApp()));
afterAll(() => service.close());

const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

test('missing migrations are reported at the start, without the errors that follow from them', async () => {
  const empty = await createTestDatabase({ migrated: false });
  const variables = { DATABASE_URL: empty.url, MIGRATE_ON_START: 'false', LOG_LEVEL: 'warn' };
  const { child, url, output, ended } = await startServiceProcess(service.env, variables);
  const missing = /^MIGRATE_ON_START: \d\d migrations are missing: run npm run migrate\. Until then calls fail\.$/;
  await eventually(() =>
    expect(linesOf(output())).toContainEqual(
      expect.objectContaining({ level: WARN, msg: expect.stringMatching(missing) }),
    ),
  );
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  expect(linesOf(output()).filter(({ msg }) => msg.includes('STORAGE_URL'))).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await empty.drop();
}, 60_000);

test('the log has one line each for start, stopping and stopped, and none for the framework and for health checks', async () => {
  const { child, url, output, ended } = await startServiceProcess(service.env, { LOG_LEVEL: 'info' });
  for (const path of ['live', 'ready']) expect((await fetch(`${url}/health/${path}`)).status).toBe(200);
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const lines = linesOf(output());
  const texts = lines.map((line) => (line.path === undefined ? line.msg : `${line.path} ${line.status}`));
  expect(texts).toEqual(['started', '/nothing 404', 'stopping', 'stopped']);
  const { pathname } = new URL(service.env.DATABASE_URL);
  const database = expect.stringMatching(new RegExp(`^postgresql://127[^@]*${pathname}$`));
  const storage = expect.stringMatching(/^file:\/.*\/videos$/);
  expect(lines[0]).toMatchObject({ version: expect.any(String), address: url, database, storage });
}, 60_000);

test('a storage that cannot be written is reported at the start, and an upload receives 503 with its reason in the log', async () => {
  const variables = { STORAGE_URL: 'file:/dev/null/videos', LOG_LEVEL: 'warn' };
  const { child, url, output, ended } = await startServiceProcess(service.env, variables);
  const lines = () => linesOf(output());
  await eventually(() =>
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: WARN, msg: expect.stringContaining(`STORAGE_URL: ${REASON} Until it can`) }),
    ),
  );
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);

  const of = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const response = await fetch(`${url}/admin/v1/hosted/recordings?${new URLSearchParams(of).toString()}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
    body: demoVideo(0),
  });
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  const body: unknown = await response.json();
  expect(body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR', message: expect.any(String) } });
  expect(JSON.stringify(body)).not.toContain('ENOTDIR');
  await eventually(() =>
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: WARN, reason: REASON, path: '/admin/v1/hosted/recordings' }),
    ),
  );
  expect(lines().filter(({ level }) => level > WARN)).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}, 60_000);
