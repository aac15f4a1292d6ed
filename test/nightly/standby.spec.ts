import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { migrate } from '../../src/core/database/migrate.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ScaleHouse } from '../support/scale-house.js';
import { startTcpProxy, type TcpProxy, type TcpTarget } from '../support/tcp-proxy.js';
import { testServer, onServer } from '../support/test-run.js';

/** From the moment at which the path leads to the primary again. It takes 1 to 2 s, and longer on a busy machine. */
const BACK_WITHIN_MS = 10_000;

const ignore = () => undefined;
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const targetOf = ({ url }: EmbeddedPostgres): TcpTarget => ({ host: '127.0.0.1', port: Number(new URL(url).port) });

/**
 * The statements here are about the server, and name no table of ours but `tickets`, whose visibility is the subject.
 * A primary, a standby with the same data, and a service whose path to them can be changed, as a balancer does.
 */
describe('a path that leads to a standby for a while', () => {
  let primary: EmbeddedPostgres;
  let standby: EmbeddedPostgres;
  let proxy: TcpProxy;
  let service: TestApp;
  let house: ScaleHouse;
  let key: string;
  let n = 0;
  beforeAll(async () => {
    const [first, second] = ['primary', 'standby'].map((name) => join(testServer().folder, name)) as [string, string];
    primary = await startEmbeddedPostgres({ dataDir: first, log, durable: false });
    await migrate(primary.url);
    // The servers of tests do not wait for the disk.
    await onServer(primary.url, (client) => client.query('ALTER ROLE current_user SET synchronous_commit = on'));
    // A role that wants no warnings: that of a commit which no standby has must arrive all the same.
    await onServer(primary.url, (client) => client.query('ALTER ROLE current_user SET client_min_messages = error'));
    await primary.stop();
    mkdirSync(second);
    execFileSync('cp', ['-a', join(first, 'postgres'), join(second, 'postgres')]);
    writeFileSync(join(second, 'postgres/standby.signal'), '');
    primary = await startEmbeddedPostgres({ dataDir: first, log, durable: false });
    const { hostname, port, username, password } = new URL(primary.url);
    const source = `host=${hostname} port=${port} user=${username} password=${password}`;
    appendFileSync(join(second, 'postgres/postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    standby = await startEmbeddedPostgres({ dataDir: second, log, durable: false });
    proxy = await startTcpProxy(targetOf(primary));
    const url = new URL(primary.url);
    url.port = String(proxy.port);
    service = await startTestApp({ env: { DATABASE_URL: url.href } });
    house = await ScaleHouse.open(service);
    ({ key } = await issueKey(service, ['account'], { haulerId: house.haulerId }));
  });
  afterAll(async () => {
    await service.close();
    await proxy.close();
    await Promise.all([primary.stop(), standby.stop()]);
  });

  const push = () =>
    house.push(house.ticket({ inboundFlow: { ticketNumber: `T${n++}`, updatedAt: '2026-01-31T08:30:00Z' } }));
  const createAccount = (headers: Record<string, string> = {}) =>
    service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key, ...headers },
      body: { accountName: `Name ${n++}` },
    });

  /** Calls that write, several at once, so that every connection of the pools is asked. */
  const writes = async (): Promise<number[]> => {
    const calls = Array.from({ length: 4 }, () => [
      push(),
      createAccount(),
      createAccount({ 'Idempotency-Key': `K${n++}` }),
      service.admin('POST', '/haulers', { name: `H${n++}` }),
      service.admin('PUT', `/hosted/haulers/${house.haulerId}/site-data`, { sites: [], kiosks: [], materials: [] }),
    ]);
    return (await Promise.all(calls.flat())).map(({ status }) => status);
  };
  const ready = async () => (await service.call('GET', '/health/ready')).status;
  const expectServing = () =>
    eventually(async () => {
      expect(new Set(await writes())).toEqual(new Set([200, 201]));
      expect(await ready()).toBe(200);
    }, BACK_WITHIN_MS);

  /** All connections are opened again, and lead to the standby. */
  async function failOver(): Promise<void> {
    await expectServing();
    proxy.leadTo(targetOf(standby));
    proxy.reset();
    await eventually(async () => expect(await ready()).toBe(503));
    await eventually(async () => expect(new Set(await writes())).toEqual(new Set([503])));
  }

  test('it is not ready while writes are refused, reads continue, and writes are back soon', async () => {
    await failOver();
    for (let i = 0; i < 5; i++) {
      expect(await ready()).toBe(503);
      expect((await service.admin('GET', '/haulers')).status).toBe(200);
    }
    // The connections to the standby stay open.
    proxy.leadTo(targetOf(primary));
    await expectServing();
    expect(new Set(await writes())).toEqual(new Set([200, 201]));
  });

  test('a database that becomes read-only is not ready, also on connections that are open already', async () => {
    const setReadOnly = (value: string) =>
      onServer(primary.url, async (client) => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await client.query('SELECT pg_reload_conf()');
      });
    await expectServing();
    await setReadOnly('on');
    await eventually(async () => expect(await ready()).toBe(503));
    expect((await push()).status).toBe(503);
    expect((await service.admin('GET', '/haulers')).status).toBe(200);
    await onServer(primary.url, async (client) => {
      await client.query('SET default_transaction_read_only = off');
      await client.query('ALTER SYSTEM RESET default_transaction_read_only');
      await client.query('SELECT pg_reload_conf()');
    });
    await expectServing();
  });

  test('a replication slot that nothing reads needs attention', async () => {
    const onPrimary = (sql: string) => onServer(primary.url, (client) => client.query(sql));
    const found = async () => {
      const { body } = await service.admin<{ data: { kind: string; subject: string }[] }>('GET', '/attention');
      return body.data.filter(({ kind }) => kind === 'replication').map(({ subject }) => subject);
    };
    await onPrimary("SELECT pg_create_physical_replication_slot('of_a_standby', true)");
    await eventually(async () => expect(await found()).toEqual(['replication slot of_a_standby']), BACK_WITHIN_MS);
    await onPrimary("SELECT pg_drop_replication_slot('of_a_standby')");
    await eventually(async () => expect(await found()).toEqual([]), BACK_WITHIN_MS);
  });

  const waitFor = (names: string) =>
    onServer(primary.url, async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await client.query('SELECT pg_reload_conf()');
    });

  /** From now on commits wait for a standby that is not there. */
  async function awaitAbsent(): Promise<void> {
    await waitFor('absent');
    // Its connection is ended by the test while it waits.
    const commit = async () => {
      const client = new pg.Client(primary.url).on('error', ignore);
      await client.connect();
      await client.query("SELECT pg_logical_emit_message(true, 'test', '')");
      await client.end();
    };
    // The server takes the setting over when it likes to.
    await eventually(async () => {
      commit().catch(ignore);
      const { rows } = await onServer(primary.url, (client) =>
        client.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"),
      );
      expect(rows.length).toBeGreaterThan(0);
    });
  }

  test('a push whose commit no standby has is refused, also when it is sent again', async () => {
    await expectServing();
    const { key: other } = await issueKey(service, ['account'], { haulerId: house.haulerId });
    const ticket = house.ticket({ inboundFlow: { ticketNumber: 'replicated', updatedAt: '2026-01-31T08:30:00Z' } });
    const account = { headers: { 'PLATFORM-API-KEY': other }, body: { accountName: 'Replicated' } };
    const create = () => service.call('POST', '/platform-api/v1/accounts', account);
    const refusals = async () => (await Promise.all([house.push(ticket), create()])).map(({ status }) => status);
    await awaitAbsent();
    expect(await refusals()).toEqual([503, 503]);
    expect(await ready()).toBe(503);
    // What a restart of the primary does: the commits are visible, and no standby has them.
    await onServer(primary.url, (client) =>
      client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"),
    );
    await eventually(async () => {
      const { rows } = await onServer(primary.url, (client) =>
        client.query("SELECT count(*)::int FROM tickets WHERE inbound_number = 'replicated'"),
      );
      expect(rows).toEqual([{ count: 1 }]);
    });
    expect(await refusals()).toEqual([503, 503]);
    await waitFor('');
    await eventually(async () => {
      const { status, headers } = await house.push(ticket);
      expect([status, headers.get('Ticket-Result')]).toEqual([200, 'unchanged']);
      expect((await create()).status).toBe(409);
      expect(await ready()).toBe(200);
    }, BACK_WITHIN_MS);
  });
});
