import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { WorkService } from '../../../src/work/work.service.js';
import { SyncRetention } from '../../../src/site-sync/sync/site-sync.job.js';
import { SITE_SYNC_WORK } from '../../../src/site-sync/sync/sync-runs.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { hangs, when } from '../../support/scripted-partner.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { siteData } from '../../support/site-data.js';
import { answer, hurry, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

const data = siteData(3, 6, 60);
/** Opens a new connection. */
async function knock(url: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}

/** Sends the text, and resolves to the whole response when the connection is closed. */
function callerWith(url: string, first: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => (text += more));
  socket.write(first);
  return { socket, answered: once(socket, 'close').then(() => text) };
}

/** The run that waits before it writes materials. */
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND query LIKE '%INSERT INTO materials%'`;
const nothing = { sites: [], kiosks: [], materials: [] };

describe('an interrupted run', () => {
  let scene: SiteScene;
  let started: (() => Promise<unknown>)[];

  beforeAll(async () => {
    scene = await SiteScene.start();
    // This instance serves the admin API only. The tests start and kill the instances that synchronise.
    scene.service.app.get(WorkService).onModuleDestroy();
  });
  afterAll(() => scene.stop());
  beforeEach(async () => {
    started = [];
    await scene.renew();
  });
  afterEach(async () => {
    for (const stop of started) await stop();
    // Otherwise a later instance would resume its run.
    await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
  });

  const query = <Row>(sql: string, parameters: unknown[] = [scene.connectionId]) =>
    scene.service.dataSource.query<Row[]>(sql, parameters);
  /** As the time would in which a killed instance renews nothing. */
  const laneIsFree = () => query('UPDATE lanes SET owned_until = now() WHERE lane = $1::text');
  const ownLane = (owned: string) =>
    query(
      `INSERT INTO lanes SELECT $2, $1::text, gen_random_uuid(), now(), now() + $3::interval
       ON CONFLICT (kind, lane) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until`,
      [scene.connectionId, SITE_SYNC_WORK, owned],
    );

  async function killable(variables?: Record<string, string>): Promise<ServiceProcess> {
    const other = await startServiceProcess(scene.service.env, variables);
    started.push(async () => {
      other.child.kill('SIGKILL');
      await other.ended;
    });
    return other;
  }
  async function successor(): Promise<TestApp> {
    const next = await startTestApp({ on: scene.service });
    started.push(() => next.close());
    return next;
  }
  /** Asks the process that is to run it: it starts at once. */
  async function requestOf({ url }: ServiceProcess): Promise<string> {
    const headers = { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` };
    const reply = await fetch(`${url}/admin/v1/connections/${scene.connectionId}/sync`, { method: 'POST', headers });
    return ((await reply.json()) as { runId: string }).runId;
  }
  async function requestFor(by: TestApp): Promise<string> {
    const runId = await scene.request();
    hurry(by);
    return runId;
  }
  const sync = async (by: TestApp) => scene.ended(await requestFor(by));
  const isIdle = ({ app }: TestApp) =>
    eventually(() => expect(app.get(WorkService).running().get(SITE_SYNC_WORK)).toBe(0), 10_000);
  const partnerIsAsked = async (times: number) => {
    await eventually(() => expect(scene.partner.asked).toHaveLength(times), 10_000);
  };

  test('of an instance that was killed while the partner answered is resumed under the same id', async () => {
    const other = await killable();
    scene.partner.on(SITES_ROUTE, hangs());
    const runId = await requestOf(other);
    await partnerIsAsked(1);
    other.child.kill('SIGKILL');
    await other.ended;
    expect(await scene.run(runId)).toMatchObject({ status: 'running', finishedAt: null });
    scene.answers(data);
    const next = await successor();
    await laneIsFree();
    hurry(next);
    expect(await scene.ended(runId)).toMatchObject({ status: 'succeeded', counts: { materials: { created: 60 } } });
    expect(await scene.runs()).toHaveLength(1);
  });

  test('of an instance that was killed while it applied records has applied nothing, and is resumed', async () => {
    const other = await killable();
    scene.answers(data);
    const lock = scene.service.dataSource.createQueryRunner();
    await lock.startTransaction();
    // Sites and kiosks can be written, materials cannot: the run waits in the middle of its transaction.
    await lock.query('LOCK TABLE materials IN SHARE MODE');
    const runId = await requestOf(other);
    await eventually(async () => expect(await query(WAITING, [])).toHaveLength(1), 10_000);
    other.child.kill('SIGKILL');
    await other.ended;
    await lock.rollbackTransaction();
    await lock.release();
    await eventually(async () => expect(await query(WAITING, [])).toHaveLength(0));
    expect(await scene.stored()).toEqual(nothing);
    expect((await scene.run(runId)).status).toBe('running');
    const next = await successor();
    await laneIsFree();
    hurry(next);
    expect(await scene.ended(runId)).toMatchObject({
      status: 'succeeded',
      counts: { sites: { created: 3 }, kiosks: { created: 6 }, materials: { created: 60 } },
    });
  });

  test('of an instance that stops is released at once, and resumed under the same id', async () => {
    const other = await killable({ SHUTDOWN_GRACE: '1s' });
    scene.partner.on(SITES_ROUTE, hangs());
    const runId = await requestOf(other);
    await partnerIsAsked(1);
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);
    expect(await scene.connection('started_at, attempts, last_error')).toEqual({
      started_at: null,
      attempts: 0,
      last_error: null,
    });
    scene.answers(data);
    await successor();
    expect((await scene.ended(runId)).status).toBe('succeeded');
  });

  test('does not delay the stop: no new connection is accepted, and open requests are answered', async () => {
    const other = await killable();
    scene.partner.on(SITES_ROUTE, hangs());
    await requestOf(other);
    await partnerIsAsked(1);
    const admin = `Authorization: Bearer ${scene.service.env.ADMIN_TOKEN}`;
    const json = 'Content-Type: application/json\r\nContent-Length: 15';
    const halves = [
      ['GET /health/live HTTP/1.1\r\nHost: a\r\n', '\r\n'],
      [`POST /admin/v1/haulers HTTP/1.1\r\nHost: a\r\n${admin}\r\n${json}\r\n\r\n{"na`, 'me":"Late"}'],
    ] as const;
    const callers = halves.map(([first]) => callerWith(other.url, first));
    // This response, on a connection of its own, shows that the other requests have arrived.
    const last = callerWith(other.url, 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await last.answered).toMatch(/^HTTP\/1.1 200 /);
    other.child.kill('SIGTERM');
    await eventually(() => expect(knock(other.url)).rejects.toThrow('ECONNREFUSED'), 2_000);
    halves.forEach(([, second], i) => callers[i]?.socket.write(second));
    const answers = await Promise.all(callers.map(({ answered }) => answered));
    expect(answers.map((answer) => answer.split('\r\n')[0])).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 201 Created']);
    for (const answer of answers) expect(answer).toMatch(/^(?:.+\r\n)*?Connection: close\r\n/);
    expect(other.child.exitCode).toBe(null);
  });

  test('of an owner that lost its row writes neither records nor an end', async () => {
    const owner = await successor();
    const lost = Promise.withResolvers<void>();
    scene.partner.on(SITES_ROUTE, when(lost.promise, answer(data)));
    const runId = await requestFor(owner);
    await partnerIsAsked(1);
    await query(`UPDATE connections SET started_at = now() + interval '1 hour' WHERE id = $1`);
    lost.resolve();
    await isIdle(owner);
    expect(await scene.stored()).toEqual(nothing);
    expect((await scene.run(runId)).status).toBe('running');
    await query('UPDATE connections SET started_at = NULL WHERE id = $1');
    hurry(owner);
    expect((await scene.ended(runId)).status).toBe('succeeded');
    expect(scene.partner.asked).toHaveLength(2);
  });

  test('does not delay admins while records are applied: a request returns the same run, a change is stored', async () => {
    const owner = await successor();
    scene.answers(data);
    const lock = scene.service.dataSource.createQueryRunner();
    await lock.startTransaction();
    await lock.query('LOCK TABLE materials IN SHARE MODE');
    const runId = await requestFor(owner);
    await eventually(async () => expect(await query(WAITING, [])).toHaveLength(1), 10_000);
    const begun = performance.now();
    expect(await scene.request()).toBe(runId);
    const change = await scene.service.admin('PATCH', `/connections/${scene.connectionId}`, { intervalSeconds: 3600 });
    expect([change.status, performance.now() - begun < 1_000]).toEqual([200, true]);
    await lock.rollbackTransaction();
    await lock.release();
    expect((await scene.ended(runId)).status).toBe('succeeded');
    expect(await scene.runs()).toHaveLength(1);
  });

  test('of a connection that is deleted applies nothing, and ends', async () => {
    const owner = await successor();
    const deleted = Promise.withResolvers<void>();
    scene.partner.on(SITES_ROUTE, when(deleted.promise, answer(data)));
    const runId = await requestFor(owner);
    await partnerIsAsked(1);
    expect((await scene.service.admin('DELETE', `/connections/${scene.connectionId}`)).status).toBe(204);
    deleted.resolve();
    await isIdle(owner);
    expect(await scene.stored()).toEqual(nothing);
    await owner.app.get(SyncRetention).sweep();
    expect(await scene.run(runId)).toMatchObject({
      status: 'failed',
      finishedAt: expect.any(String),
      error: 'The connection was paused or deleted before the run ended.',
    });
  });

  test('of three owners that died fails, and the next run is scheduled', async () => {
    const runId = await scene.request();
    await query(`UPDATE sync_runs SET status = 'running', attempts = 3 WHERE connection_id = $1`);
    scene.answers(data);
    const owner = await successor();
    expect(await scene.ended(runId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('interrupted 3 times'),
    });
    const { dueInMinutes } = await scene.connection<{ dueInMinutes: number }>(
      `extract(epoch FROM due_at - now())::float8 / 60 AS "dueInMinutes"`,
    );
    expect(dueInMinutes).toBeGreaterThan(13);
    expect((await sync(owner)).status).toBe('succeeded');
  });

  test('of a lost database connection counts as interrupted, and its reason names the database', async () => {
    const owner = await successor();
    scene.answers(data);
    let runId = '';
    await scene.whileCatalogIsLocked(async (waiting) => {
      runId = await requestFor(owner);
      await eventually(async () => expect(await waiting()).toBe(1), 10_000);
      await query(`UPDATE sync_runs SET attempts = 3 WHERE connection_id = $1`);
      await query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
        [],
      );
      await isIdle(owner);
    });
    expect(await requestFor(owner)).toBe(runId);
    expect(await scene.ended(runId)).toMatchObject({
      status: 'failed',
      error:
        'The run was interrupted 3 times: the service stopped during it, or the database was unavailable or too slow.',
    });
  });

  describe('the sweep of runs', () => {
    const sweep = () => scene.service.app.get(SyncRetention).sweep();
    const statuses = async () => (await scene.runs()).map(({ status }) => status);

    test('leaves runs that wait, that are in work and that will be resumed', async () => {
      await scene.request();
      await sweep();
      expect(await statuses()).toEqual(['queued']);
      await query(`UPDATE sync_runs SET status = 'running' WHERE connection_id = $1`);
      await query('UPDATE connections SET run_requested_at = NULL WHERE id = $1');
      await ownLane('1 min');
      await sweep();
      expect(await statuses()).toEqual(['running']);
      await query('UPDATE connections SET enabled = true WHERE id = $1');
      await laneIsFree();
      await sweep();
      expect(await statuses()).toEqual(['running']);
    });

    test('ends the run of a connection that was paused while its instance was killed; a request starts another', async () => {
      const runId = await scene.request();
      await query(`UPDATE sync_runs SET status = 'running' WHERE connection_id = $1`);
      await query('UPDATE connections SET run_requested_at = NULL WHERE id = $1');
      await sweep();
      expect(await statuses()).toEqual(['failed']);
      expect(await scene.request()).not.toBe(runId);
    });

    test('does not end a run of a paused connection that was requested again: it is resumed', async () => {
      const runId = await scene.request();
      await query(`UPDATE sync_runs SET status = 'running' WHERE connection_id = $1`);
      await query('UPDATE connections SET run_requested_at = NULL, due_at = NULL WHERE id = $1');
      scene.answers(data);
      expect(await requestFor(await successor())).toBe(runId);
      expect((await scene.ended(runId)).status).toBe('succeeded');
    });

    test('deletes old runs with many changes and issues in small steps', async () => {
      const owner = await successor();
      scene.answers(data);
      for (let i = 0; i < 2; i++) await sync(owner);
      const step = async (sql: string) => query(sql, []);
      for (const [table, columns, values] of [
        ['sync_changes', 'kind, change, external_id, name', `'sites', 'created', gen_random_uuid(), ''`],
        [
          'sync_issues',
          'position, severity, kind, path, reason, raw',
          `n + 9, 'flagged', 'sites', 'sites[0]', 'r', '{}'`,
        ],
      ] as const) {
        await query(
          `INSERT INTO ${table} (hauler_id, run_id, ${columns})
           SELECT r.hauler_id, r.id, ${values} FROM sync_runs r, generate_series(1, 2500) AS n WHERE connection_id = $1`,
        );
        await step(`CREATE FUNCTION few_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF (SELECT count(*) FROM gone) > 1000 THEN RAISE 'too many rows of one statement'; END IF; RETURN NULL;
          END $$`);
        await step(`CREATE TRIGGER few AFTER DELETE ON ${table} REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION few_${table}()`);
      }
      try {
        await query(`UPDATE sync_runs SET created_at = created_at - interval '31 days' WHERE connection_id = $1`);
        await sweep();
        expect(await statuses()).toEqual([]);
      } finally {
        for (const table of ['sync_changes', 'sync_issues']) await step(`DROP FUNCTION few_${table} CASCADE`);
      }
    });

    test('deletes runs after 30 days, but not a held run that can be confirmed', async () => {
      const owner = await successor();
      scene.answers({ sites: data.sites });
      for (let i = 0; i < 2; i++) await sync(owner);
      const age = (days: number) =>
        query(`UPDATE sync_runs SET created_at = created_at - interval '${days} days' WHERE connection_id = $1`);
      await age(29);
      await sweep();
      expect(await statuses()).toEqual(['succeeded', 'succeeded']);
      await age(2);
      await sweep();
      expect(await statuses()).toEqual([]);
      scene.answers({ sites: [] });
      for (let i = 0; i < 2; i++) await sync(owner);
      const newest = (await scene.runs())[0];
      await age(31);
      await sweep();
      expect(await statuses()).toEqual(['held']);
      expect((await scene.runs())[0]?.id).toBe(newest?.id);
    });
  });
});
