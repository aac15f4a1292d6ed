import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { chooseUser } from '../../../src/embedded-postgres/owner.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { Addresses, type Machine, MACHINES, PASSWORD, ROLE, SUPERUSER_PASSWORD } from './configuration.js';
import { Programs } from './programs.js';

const BOOT_MS = 120_000;

interface Member {
  readonly name: Machine;
  readonly role: string;
  readonly state: string;
}

/** Three nodes of PostgreSQL under Patroni and etcd, and the path to them: PgBouncer in front of HAProxy. */
export class Cluster {
  private readonly folders = new Map<string, string>();

  private constructor(
    private readonly addresses: Addresses,
    private readonly programs: Programs,
  ) {}

  /** With an empty database of the service. */
  static async start(): Promise<Cluster> {
    // Not in the folder of this run, which other users may not enter.
    const folder = mkdtempSync(join(tmpdir(), 'haulbridge-failover-'));
    const owner = chooseUser(folder);
    const own = (path: string) => owner !== undefined && chownSync(path, owner.uid, owner.gid);
    own(folder);
    const cluster = new Cluster(await Addresses.choose(), new Programs(folder, owner));
    held(() => cluster.stop());
    cluster.writeFiles(own);
    for (const machine of MACHINES) cluster.startEtcd(machine);
    for (const machine of MACHINES) cluster.startPatroni(machine);
    cluster.startHaproxy();
    cluster.startPgbouncer();
    await eventually(() => cluster.createDatabase(), BOOT_MS);
    await cluster.whole();
    return cluster;
  }

  /** As the service connects. */
  get url(): string {
    return `postgresql://${ROLE}:${PASSWORD}@127.0.0.1:${this.addresses.of('127.0.0.1:6432')}/${ROLE}`;
  }

  startEtcd(machine: Machine): void {
    this.programs.start(`etcd-${machine}`, 'etcd', ['--config-file', this.file(machine, 'etcd.yml')]);
  }

  startPatroni(machine: Machine): void {
    this.programs.start(`patroni-${machine}`, 'patroni', [this.file(machine, 'patroni.yml')]);
  }

  startPgbouncer(): void {
    this.programs.start('pgbouncer', 'pgbouncer', [this.file('path', 'pgbouncer.ini')]);
  }

  /** Patroni, and PostgreSQL with all its processes. */
  signalNode(machine: Machine, signal: NodeJS.Signals): void {
    this.programs.signal(signal, this.file(machine, 'patroni.yml'));
    this.programs.signal(signal, this.file(machine, '15-haulbridge'));
  }

  signalEtcd(machine: Machine, signal: NodeJS.Signals): void {
    this.programs.signal(signal, this.file(machine, 'etcd.yml'));
  }

  signalPgbouncer(signal: NodeJS.Signals): void {
    this.programs.signal(signal, this.file('path', 'pgbouncer.ini'));
  }

  /** Asks each member for the state of the cluster until one answers. */
  async members(): Promise<Member[]> {
    for (const machine of MACHINES) {
      const reply = await this.rest(machine, '/cluster').catch(() => undefined);
      if (reply?.ok === true) return ((await reply.json()) as { members: Member[] }).members;
    }
    throw new Error('no member answers');
  }

  async primary(): Promise<Machine> {
    const leader = (await this.members()).find(({ role }) => role === 'leader');
    if (leader === undefined) throw new Error('there is no primary');
    return leader.name;
  }

  /** Waits until all three nodes replicate, one of them synchronously. Returns the primary. */
  whole(): Promise<Machine> {
    return eventually(async () => {
      const members = await this.members();
      const states = members.map(({ role, state }) => `${role} ${state}`).sort();
      if (!/^leader running,replica (running|streaming),sync_standby (running|streaming)$/.test(states.join()))
        throw new Error(`the cluster is not whole: ${states.join()}\n${this.output()}`);
      // Patroni calls a standby running before it streams.
      const streaming = await this.onPrimary("SELECT FROM pg_stat_replication WHERE state = 'streaming'", 'postgres');
      if (streaming.length !== 2) throw new Error(`${streaming.length} standbys stream`);
      return this.primary();
    }, BOOT_MS);
  }

  async switchover(leader: Machine): Promise<void> {
    const candidate = (await this.members()).find(({ role }) => role === 'sync_standby')?.name;
    const reply = await this.rest(leader, '/switchover', { leader, candidate });
    if (!reply.ok) throw new Error(`switchover: ${reply.status} ${await reply.text()}`);
  }

  /** Runs SQL on the primary, without the path. */
  async onPrimary<Row extends pg.QueryResultRow>(sql: string, database: string = ROLE): Promise<Row[]> {
    const port = this.addresses.port(await this.primary(), 5432);
    const url = `postgresql://postgres:${SUPERUSER_PASSWORD}@127.0.0.1:${port}/${database}`;
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 }).on(
      'error',
      () => undefined,
    );
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** The last lines of each program. */
  output(): string {
    const names = [...MACHINES.flatMap((machine) => [`etcd-${machine}`, `patroni-${machine}`]), 'haproxy', 'pgbouncer'];
    return names.map((name) => `${name}: ${this.programs.output(name).slice(-1_500)}`).join('\n');
  }

  async stop(): Promise<void> {
    this.programs.end();
    while (this.programs.processes().length > 0) {
      this.programs.signal('SIGKILL');
      await delay(50);
    }
    rmSync(this.programs.folder, { recursive: true, force: true });
  }

  private startHaproxy(): void {
    this.programs.start('haproxy', 'haproxy', ['-db', '-f', this.file('path', 'haproxy.cfg')]);
  }

  private writeFiles(own: (path: string) => unknown): void {
    const add = (name: string, files: readonly string[], machine?: Machine) => {
      const folder = join(this.programs.folder, name);
      mkdirSync(folder, { mode: 0o700 });
      this.folders.set(name, folder);
      for (const file of files) writeFileSync(join(folder, file), this.addresses.fill(file, folder, machine));
      mkdirSync(join(folder, 'run-postgresql'));
      for (const path of [folder, ...['run-postgresql', ...files].map((file) => join(folder, file))]) own(path);
    };
    for (const machine of MACHINES) add(machine, ['etcd.yml', 'patroni.yml'], machine);
    add('path', ['haproxy.cfg', 'pgbouncer.ini']);
    writeFileSync(this.file('path', 'pgbouncer-userlist.txt'), `"${ROLE}" "${PASSWORD}"\n`);
    own(this.file('path', 'pgbouncer-userlist.txt'));
  }

  private file(place: Machine | 'path', name: string): string {
    return join(this.folders.get(place) ?? '', name);
  }

  private async createDatabase(): Promise<void> {
    await this.onPrimary(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}' IN ROLE pg_monitor`, 'postgres');
    await this.onPrimary(`CREATE DATABASE ${ROLE} OWNER ${ROLE}`, 'postgres');
  }

  private rest(machine: Machine, path: string, body?: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.addresses.port(machine, 8008)}${path}`, {
      signal: AbortSignal.timeout(body === undefined ? 2_000 : 60_000),
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  }
}
