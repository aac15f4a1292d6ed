import { randomBytes } from 'node:crypto';
import { issueKey } from './api-keys.js';
import { startTestApp, type TestApp } from './app.js';
import type { Reply } from './http.js';
import { ScaleHouse, type TicketReply } from './scale-house.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { testServer, onServer } from './test-run.js';

export interface TimedReply extends Reply {
  /** From the call to the end of the answer, in milliseconds. */
  readonly ms: number;
}

export async function timed(call: Promise<Reply<unknown>>): Promise<TimedReply> {
  const started = performance.now();
  const reply = await call;
  return { ...reply, ms: performance.now() - started };
}

/** Runs a statement as the server's superuser, outside of any test's database. */
export const asAdmin = (sql: string) => onServer(testServer().adminUrl, (client) => client.query(sql));

/** A service whose database can be taken away from it: behind a proxy, and as a role that can be limited. */
export class DatabaseStage {
  private numbers = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly role: string,
    readonly proxy: TcpProxy,
    readonly service: TestApp,
    readonly house: ScaleHouse,
    private readonly key: string,
  ) {}

  static async open(): Promise<DatabaseStage> {
    const database = await createTestDatabase();
    const role = `limited_${randomBytes(6).toString('hex')}`;
    // An ordinary role: no limit holds for superusers.
    await asAdmin(`CREATE ROLE ${role} LOGIN PASSWORD 'x' IN ROLE pg_read_all_data, pg_write_all_data`);
    const url = new URL(database.url);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    [url.username, url.password] = [role, 'x'];
    const service = await startTestApp({ env: { DATABASE_URL: url.href } });
    const house = await ScaleHouse.open(service);
    const { key } = await issueKey(service, ['account', 'site', 'vision'], { haulerId: house.haulerId });
    return new DatabaseStage(database, role, proxy, service, house, key);
  }

  /** The database's name on the server. */
  get name(): string {
    return new URL(this.database.url).pathname.slice(1);
  }

  endSessions() {
    return asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.name}'`);
  }

  pushTicket(): Promise<Reply<TicketReply>> {
    const inboundFlow = { ticketNumber: `N${this.numbers++}`, updatedAt: '2026-01-31T08:30:00Z' };
    return this.house.push(this.house.ticket({ inboundFlow }), { 'Idempotency-Key': `N${this.numbers}` });
  }

  createAccount(extra: Record<string, string> = {}): Promise<Reply> {
    return this.service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': this.key, ...extra },
      body: { accountName: `Name ${this.numbers++}` },
    });
  }

  /** One of each kind; all of them need the database. While it works they return `AVAILABLE_STATUSES`. */
  everyCall(): Promise<TimedReply[]> {
    const { service, house, key } = this;
    const headers = { 'API-KEY': key };
    return Promise.all(
      [
        this.pushTicket(),
        this.createAccount(),
        this.createAccount({ 'Idempotency-Key': `K${this.numbers}` }),
        service.admin('GET', '/tickets'),
        service.admin('GET', '/api-keys'),
        service.call('GET', `/scale-platform/v1/sites?haulerId=${house.haulerId}`, { headers }),
        service.call('GET', '/video-platform/v1/videos?customerId=nobody', { headers }),
        service.call('GET', '/health/ready'),
      ].map(timed),
    );
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.proxy.close();
    await this.database.drop();
    await asAdmin(`DROP ROLE ${this.role}`);
  }
}

/** Of `everyCall`. Two calls find nothing, and only the database can say so. */
export const AVAILABLE_STATUSES = [200, 200, 200, 200, 200, 404, 404, 200];
