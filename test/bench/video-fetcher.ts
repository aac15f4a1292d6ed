import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BenchDatabase } from './database.js';
import { collectGarbage } from './load.js';
import { forgetPeak, peakRssMb, processorMs, type Service } from './processes.js';

const LOOK_MS = 20;

const run = promisify(execFile);
const shell = async (script: string, ...args: string[]): Promise<string> =>
  (await run('sh', ['-c', script, 'sh', ...args], { maxBuffer: 16 * 1024 ** 2 })).stdout;

export interface Measured {
  readonly ms: number;
  /** Of whoever fetches; of the service together with PostgreSQL. */
  readonly processorMs: number;
}

/** SHA-256 by the name of the film. */
type Sums = ReadonlyMap<string, string>;

interface StoredRow {
  readonly id: string;
  readonly film: string;
  readonly status: string;
  readonly size: string;
  readonly sha256: string;
}

/** Fetches the partner's films, by the service and by curl, and looks at what came of it. */
export class VideoFetcher {
  constructor(
    private readonly database: BenchDatabase,
    private readonly service: Service,
    private readonly partnerUrl: string,
    /** What curl fetches at once. */
    private readonly atOnce: number,
  ) {}

  /** From the moment when a truck is followed until the last of its films is stored; all of them are looked at. */
  async follow(truckId: string, films: number, bytes: number) {
    const connectionId = await this.connect();
    await this.settle();
    const { pid } = this.service;
    const processors = () => processorMs(pid) + processorMs(this.database.pid);
    forgetPeak(pid);
    const [rssBeforeMb, spent, begun] = [peakRssMb(pid), processors(), performance.now()];
    const body = { connectionId, truckId, startTime: new Date(Date.now() - 13 * 3_600_000).toISOString() };
    const { id } = await this.admin<{ id: string }>('POST', '/video-subscriptions', body);
    while ((await this.storedBy(connectionId)) < films) await delay(LOOK_MS);
    const figures = {
      ms: performance.now() - begun,
      processorMs: processors() - spent,
      rssBeforeMb,
      rssGrowthMb: peakRssMb(pid) - rssBeforeMb,
    };
    await this.admin('DELETE', `/video-subscriptions/${id}`);
    const sums = await this.look(connectionId, films, bytes);
    return { ...figures, sums };
  }

  /** The same films by curl; with `safe` their bytes are made durable and summed up as well. */
  async curl(films: number, safe: boolean): Promise<Measured & { readonly sums: Sums }> {
    const folder = join(this.database.folder, 'curl');
    mkdirSync(folder);
    const names = Array.from({ length: films }, (_, n) => String(n));
    const config = names.map((n) => `url = "${this.partnerUrl}/films/${n}.mp4"\noutput = "${join(folder, n)}"\n`);
    writeFileSync(`${folder}.conf`, config.join(''));
    const summed = 'cd "$1" && ls | xargs -n 25 -P 2 sha256sum';
    await this.settle();
    const [spent, begun] = [processorMs(process.pid), performance.now()];
    await run('curl', [
      '--silent',
      '--show-error',
      '--fail',
      '--parallel',
      '--parallel-max',
      String(this.atOnce),
      '-K',
      `${folder}.conf`,
    ]);
    if (safe) await shell(`${summed.replace('sha256sum', `sh -c 'sync -d "$@" && sha256sum "$@"' sh`)}`, folder);
    const figures = { ms: performance.now() - begun, processorMs: processorMs(process.pid) - spent };
    const sums = sumsOf(await shell(summed, folder));
    rmSync(folder, { recursive: true });
    return { ...figures, sums };
  }

  expectSame(one: Sums, other: Sums): void {
    for (const [film, sum] of other) if (one.get(film) !== sum) throw new Error(`film ${film} is not what curl has`);
    if (one.size !== other.size) throw new Error(`${one.size} films instead of ${other.size}`);
  }

  /** Nothing is left to write, to delete or to collect of what was measured before. */
  private async settle(): Promise<void> {
    await this.database.client.query('CHECKPOINT');
    await shell('sync');
    collectGarbage();
  }

  private async connect(): Promise<string> {
    const { id: haulerId } = await this.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
    const vision = { haulerId, interface: 'vision', baseUrl: this.partnerUrl, apiKey: 'k', customerId: 'bench' };
    return (await this.admin<{ id: string }>('POST', '/connections', vision)).id;
  }

  private async storedBy(connectionId: string): Promise<number> {
    const { rows } = await this.database.client.query<{ stored: number; ended: number }>(
      `SELECT count(*) FILTER (WHERE status = 'stored')::int AS stored,
         count(*) FILTER (WHERE status IN ('failed', 'expired'))::int AS ended
       FROM recordings WHERE connection_id = $1`,
      [connectionId],
    );
    const [row] = rows;
    if (row === undefined || row.ended > 0) throw new Error(`${row?.ended} downloads failed`);
    return row.stored;
  }

  /** Every row stored, every file of the right length, and of the sum that its row tells. The files go. */
  private async look(connectionId: string, films: number, bytes: number): Promise<Sums> {
    const { rows } = await this.database.client.query<StoredRow>(
      'SELECT id, partner_recording_id AS film, status, size_bytes AS size, sha256 FROM recordings WHERE connection_id = $1',
      [connectionId],
    );
    if (rows.length !== films) throw new Error(`${rows.length} rows instead of ${films}`);
    for (const { id, film, status, size, sha256 } of rows) {
      const content = await this.call('GET', `/recordings/${id}/content`);
      const hash = createHash('sha256');
      let received = 0;
      for await (const piece of (content.body ?? []) as AsyncIterable<Uint8Array>) {
        hash.update(piece);
        received += piece.length;
      }
      const whole =
        status === 'stored' && Number(size) === bytes && received === bytes && hash.digest('hex') === sha256;
      if (!whole) throw new Error(`film ${film} is not whole`);
    }
    await shell('find "$1" -name "*.mp4" -type f -delete', this.database.folder);
    return new Map(rows.map(({ film, sha256 }) => [film, sha256]));
  }

  private async admin<T>(method: string, path: string, body?: object): Promise<T> {
    const text = await (await this.call(method, path, body)).text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  private async call(method: string, path: string, body?: object): Promise<Response> {
    const response = await fetch(`${this.service.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.service.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

const sumsOf = (text: string): Sums =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
