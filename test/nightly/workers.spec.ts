import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('WEB_CONCURRENCY: several processes behind one port', () => {
  let database: TestDatabase;
  let started: BuiltService;

  beforeAll(async () => {
    database = await createTestDatabase();
    started = await start({ DEMO: 'true' });
  });
  // The last test ends the service.
  afterAll(() => database.drop());

  const start = (env: Record<string, string> = {}) =>
    startService({ databaseUrl: database.url, env: { WEB_CONCURRENCY: '2', ...env } });

  test('every worker answers', async () => {
    expect(childrenOf(started.child.pid)).toHaveLength(2);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${started.url}/health/ready`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  test('a key that was issued through one worker is valid at the others', async () => {
    const { body: hauler } = await started.admin<{ id: string }>('POST', '/haulers', { name: 'Many' });
    const { body } = await started.admin<{ key: string }>('POST', '/api-keys', {
      haulerId: hauler.id,
      interfaces: ['account'],
    });
    const push = () =>
      fetch(`${started.url}/platform-api/v1/accounts`, {
        method: 'POST',
        // A new connection each time, so that another worker may receive it.
        headers: { 'platform-api-key': body.key, 'content-type': 'application/json', connection: 'close' },
        body: '{}',
      });
    const statuses = new Set<number>();
    for (let i = 0; i < 10; i++) statuses.add((await push()).status);
    expect([...statuses]).toEqual([400]);
  });

  test('the demo has its sandbox in every worker', async () => {
    const statuses = new Set<number>();
    for (let i = 0; i < 10; i++) {
      const headers = { Authorization: 'Bearer test-admin-token-0123456789', Connection: 'close' };
      statuses.add((await fetch(`${started.url}/admin/v1/sandbox/scenarios`, { headers })).status);
    }
    expect([...statuses]).toEqual([200]);
  });

  test('a used port ends the start with its reason', async () => {
    const refused = start({ PORT: new URL(started.url).port });
    await expect(refused).rejects.toThrow(/EADDRINUSE/);
    // The primary reports the end of its workers in a sentence as well.
    await expect(refused).rejects.toThrow(/\na worker ended with 1 before it listened\n$/);
  });

  test('a worker that dies is replaced, and service continues', async () => {
    const { child, url } = started;
    const [first, second] = childrenOf(child.pid);
    process.kill(first!, 'SIGKILL');
    await eventually(() => expect(childrenOf(child.pid).filter((pid) => pid !== first)).toHaveLength(2));
    expect(childrenOf(child.pid)).toContain(second);
    await eventually(async () => expect((await fetch(`${url}/health/live`)).status).toBe(200));
    await eventually(() => expect(started.output()).toContain('a worker has ended'));
  });

  test('a worker that dies while others start is replaced too; SIGTERM ends all processes with 0', async () => {
    const before = childrenOf(process.pid);
    const port = String(await freePort());
    const starting = start({ PORT: port });
    const primary = await eventually(() => {
      const [pid] = childrenOf(process.pid).filter((child) => !before.includes(child));
      // The primary waits until they run programs of their own.
      expect(childrenOf(pid).filter(isWorker)).toHaveLength(2);
      return pid;
    });
    const [first, second] = childrenOf(primary);
    process.kill(second!, 'SIGSTOP');
    await eventually(
      async () => expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200),
      20_000,
    );
    process.kill(first!, 'SIGKILL');
    await eventually(() => expect(childrenOf(primary)).toEqual([second]));
    process.kill(second!, 'SIGCONT');
    const service = await starting;
    await eventually(() => expect(childrenOf(primary)).toHaveLength(2));
    await eventually(() => expect(service.output()).toContain('a worker has ended'));
    const workers = childrenOf(primary);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(workers.filter(runs)).toEqual([]);
  });

  test('workers end with a killed primary', async () => {
    const workers = childrenOf(started.child.pid);
    await started.end('SIGKILL');
    await eventually(() => expect(workers.filter(runs)).toEqual([]));
  });
});

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

function isWorker(pid: number): boolean {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').includes('NODE_UNIQUE_ID=');
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
