import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readEnv, type ResolvedEnv } from '../../src/config/env.js';
import { createKey } from '../../src/auth/api-key.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { newArchive, OTHER_SECRETS_KEY } from '../support/cell-scene.js';
import { commandSucceeds } from '../support/backup-scene.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { type CellProxy, prepareProxy, type ProxyKind } from '../support/cell-proxy.js';
import { eventually } from '../support/eventually.js';
import { requirePrograms } from '../support/programs.js';
import { TICKETS } from '../support/scale-house.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, onServer } from '../support/test-run.js';

const id = DEMO.haulerId;

/** Two services start, and the demo is fetched. */
const HOOK_MS = 180_000;

interface Cell {
  readonly service: BuiltService;
  readonly database: TestDatabase;
  readonly variables: Record<string, string>;
}

async function startCell(name: string, secretsKey: string, publicUrl: string): Promise<Cell> {
  const database = await createTestDatabase();
  const env = { CELL: name, SECRETS_KEY: secretsKey, PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1' };
  const service = await startService({ databaseUrl: database.url, env });
  const other = secretsKey === TEST_SECRETS_KEY ? OTHER_SECRETS_KEY : TEST_SECRETS_KEY;
  const variables = { ...env, DATABASE_URL: database.url, DATA_DIR: service.dataDir, SOURCE_SECRETS_KEY: other };
  return { service, database, variables };
}

const query = <Row extends object>({ database }: Cell, sql: string): Promise<Row[]> =>
  onServer(database.url, async (client) => (await client.query<Row>(sql, [id])).rows);

const ticket = (ticketNumber: string) => ({
  siteId: DEMO.siteId,
  materials: [{ id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
  inboundFlow: { ticketNumber, updatedAt: new Date().toISOString() },
});

/** A partner's client: it sends each ticket until it is stored, and waits as `Retry-After` says. */
class Partner {
  readonly stored = new Map<string, string>();
  readonly refused = new Map<number, number>();
  private stopped = false;
  private readonly running: Promise<void>[];

  constructor(url: string, key: string, clients = 3) {
    this.running = Array.from({ length: clients }, async (_, client) => {
      for (let n = 0; !this.stopped; n++) await this.send(url, key, `T-${client}-${n}`);
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
  }

  private async send(url: string, key: string, number: string): Promise<void> {
    const body = JSON.stringify(ticket(number));
    const headers = { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
    for (;;) {
      const response = await fetch(`${url}${TICKETS}`, { method: 'POST', headers, body }).catch(() => undefined);
      if (response?.status === 200) {
        const { disposalTicketId } = (await response.json()) as { disposalTicketId: string };
        this.stored.set(number, disposalTicketId);
        await delay(20);
        return;
      }
      const status = response?.status ?? 0;
      const text = (await response?.text()) ?? '';
      this.refused.set(status, (this.refused.get(status) ?? 0) + 1);
      // Any other status would make a client give the ticket up.
      if (status !== 503 && status !== 0) throw new Error(`the ticket ${number} was refused: ${status} ${text}`);
      await delay(Math.min(Number(response?.headers.get('retry-after') ?? 1), 2) * 1000);
    }
  }
}

describe.each<ProxyKind>(['haproxy', 'nginx'])('two cells behind %s', (kind) => {
  let [a, b]: [Cell | undefined, Cell | undefined] = [undefined, undefined];
  let proxy: CellProxy | undefined;
  let url: string;
  let demo: Demo;

  beforeAll(async () => {
    requirePrograms(kind);
    const prepared = await prepareProxy(kind);
    ({ url } = prepared);
    a = await startCell('a', TEST_SECRETS_KEY, url);
    b = await startCell('b', OTHER_SECRETS_KEY, url);
    proxy = await prepared.start([a.service.url, b.service.url]);
    // The partner side of the demo is behind the proxy too, and moves with the hauler.
    const env = {
      ...readEnv({ DATABASE_URL: a.database.url, ADMIN_TOKEN: TEST_ADMIN_TOKEN, SECRETS_KEY: TEST_SECRETS_KEY }),
    };
    demo = await seedDemo({ ...env, DATA_DIR: a.service.dataDir } as ResolvedEnv, url);
    await eventually(async () => {
      const sql = `SELECT count(*) FILTER (WHERE source = 'continuous') AS listed, count(*) FILTER (WHERE status <> 'stored') AS open
        FROM recordings WHERE hauler_id = $1`;
      expect(await query(cell(a), sql)).toEqual([{ listed: '20', open: '0' }]);
    });
  }, HOOK_MS);
  afterAll(async () => {
    await proxy?.stop();
    for (const each of [a, b]) {
      await each?.service.end();
      await each?.database.drop();
    }
  });

  const cell = (found: Cell | undefined): Cell => {
    if (found === undefined) throw new TypeError('the cell has not started');
    return found;
  };

  test('a request reaches the cell of its key or of its path', async () => {
    const foreign = await fetch(`${url}/partner/v1/me`, { headers: { 'API-KEY': createKey('b').key } });
    expect([foreign.status, cell(b).service.output().length >= 0]).toEqual([401, true]);
    const headers = { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` };
    const haulers = async (path: string) => {
      const response = await fetch(`${url}${path}/admin/v1/haulers`, { headers });
      return ((await response.json()) as { data: unknown[] }).data.length;
    };
    expect([await haulers('/cells/a'), await haulers('/cells/b'), await haulers('')]).toEqual([1, 0, 1]);
    const own = await fetch(`${url}/partner/v1/me`, { headers: { 'PLATFORM-API-KEY': demo.keys.platform } });
    expect(own.status).toBe(200);
    const chosen = await fetch(`${url}/admin/v1/haulers`, { headers: { ...headers, Cookie: 'haulbridge_cell=b' } });
    expect(((await chosen.json()) as { data: unknown[] }).data).toEqual([]);
    const unknown = await fetch(`${url}/cells/zzz/health/live`);
    expect(unknown.status).toBe(404);
  });

  test('a page stays in its cell, whatever cell another tab has switched to', async () => {
    const session = `${url}/cells/b/console/api/session`;
    const other = 'haulbridge_cell=a';
    const headers = { Cookie: other, 'Content-Type': 'application/json', 'X-Console': '1' };
    const signedIn = await fetch(session, {
      method: 'POST',
      headers,
      body: JSON.stringify({ token: TEST_ADMIN_TOKEN }),
    });
    const [cookie = '', ...attributes] = (signedIn.headers.get('set-cookie') ?? '').split('; ');
    expect([signedIn.status, attributes]).toEqual([200, expect.arrayContaining(['Path=/cells/b'])]);
    const found = await fetch(session, { headers: { Cookie: `${other}; ${cookie}` } });
    expect([found.status, await found.json()]).toEqual([200, expect.objectContaining({ cell: 'b' })]);
    // It does not count in the other cell.
    const strange = await fetch(`${url}/cells/a/console/api/session`, { headers: { Cookie: cookie } });
    expect(strange.status).toBe(401);
  });

  test('a hauler moves while its partner pushes: no ticket is lost or doubled', async () => {
    const [source, target] = [cell(a), cell(b)];
    const partner = new Partner(url, demo.keys.platform);
    await eventually(() => expect(partner.stored.size).toBeGreaterThan(30));
    const archive = newArchive();
    await commandSucceeds(['hauler', 'export', id, '--to', archive], source.variables);
    expect([...partner.refused.keys()]).toEqual([503]);
    await commandSucceeds(['hauler', 'import', '--from', archive], target.variables);
    const before = partner.stored.size;
    await proxy?.move([demo.keys.platform, demo.keys.partner].map((key) => key.slice(0, 'hb_a_'.length + 8)));
    await eventually(() => expect(partner.stored.size).toBeGreaterThan(before + 30));
    const released = await commandSucceeds(['hauler', 'release', id, '--to', 'b'], source.variables);
    expect(released).toContain(`${demo.keys.platform.slice(0, 'hb_a_'.length + 8)} b`);
    await partner.stop();
    const rows = await query<{ id: string; number: string }>(
      target,
      `SELECT id, inbound_number AS number FROM tickets WHERE hauler_id = $1 AND inbound_number LIKE 'T-%'`,
    );
    expect(new Map(rows.map((row) => [row.number, row.id]))).toEqual(partner.stored);
    expect(rows).toHaveLength(partner.stored.size);
    expect(await query(source, 'SELECT id FROM tickets WHERE hauler_id = $1')).toEqual([]);
  });

  test('synchronisations and downloads go on, and the files have their sums', async () => {
    const target = cell(b);
    const connections = await target.service.admin<{ data: { id: string; interface: string }[] }>(
      'GET',
      '/connections',
    );
    const of = (name: string) => connections.body.data.find((each) => each.interface === name)?.id ?? '';
    const run = await target.service.admin<{ id: string }>('POST', `/connections/${of('site')}/sync`);
    expect(run.status).toBe(202);
    await eventually(async () => {
      const runs = await target.service.admin<{ data: { id: string; status: string }[] }>('GET', '/sync-runs');
      expect(runs.body.data[0]?.status).toBe('succeeded');
    });
    // The newest minute is recorded by the partner after the move.
    const before = await query<{ count: string }>(
      target,
      `SELECT count(*) FROM recordings WHERE hauler_id = $1 AND status = 'stored'`,
    );
    const env = {
      ...readEnv({ DATABASE_URL: target.database.url, ADMIN_TOKEN: TEST_ADMIN_TOKEN, SECRETS_KEY: OTHER_SECRETS_KEY }),
    };
    await seedDemo(
      { ...env, DATA_DIR: cell(a).service.dataDir } as ResolvedEnv,
      target.service.url,
      Date.now() + 60_000,
    );
    await eventually(async () => {
      const now = await query<{ count: string }>(
        target,
        `SELECT count(*) FROM recordings WHERE hauler_id = $1 AND status = 'stored'`,
      );
      expect(Number(now[0]?.count)).toBeGreaterThan(Number(before[0]?.count));
    }, 90_000);
    const recordings = await query<{ id: string; sha256: string }>(
      target,
      `SELECT id, sha256 FROM recordings WHERE hauler_id = $1 AND status = 'stored'`,
    );
    const headers = { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` };
    for (const { id: recording, sha256 } of recordings) {
      const content = await fetch(`${url}/cells/b/admin/v1/recordings/${recording}/content`, { headers });
      const bytes = Buffer.from(await content.arrayBuffer());
      expect([content.status, createHash('sha256').update(bytes).digest('hex')]).toEqual([200, sha256]);
    }
  });
});
