import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BenchDatabase } from './database.js';
import { collectGarbage } from './load.js';
import { processorMs, type Service } from './processes.js';

const LOOK_MS = 20;

/** The default of the service (decision 47). */
const DOWNLOADS_PER_CONNECTION = 4;

const run = promisify(execFile);
const shell = async (script: string, ...args: string[]): Promise<string> =>
  (await run('sh', ['-c', script, 'sh', ...args], { maxBuffer: 16 * 1024 ** 2 })).stdout;

export interface Measured {
  readonly ms: number;
  /** Of curl, or of the service together with PostgreSQL. */
  readonly processorMs: number;
}

/** SHA-256 by the name of the video. */
type Sums = ReadonlyMap<string, string>;

interface StoredRow {
  readonly id: string;
  readonly video: string;
  readonly status: string;
  readonly size: string;
  readonly sha256: string;
}

/** Downloads the videos of the partner with the service and with curl, and checks the results. */
export class VideoFetcher {
  constructor(
    private readonly database: BenchDatabase,
    private readonly service: Service,
    private readonly partnerUrl: string,
    /** Each has the same share of the videos. */
    private readonly connections: number,
  ) {}

  /** Measures from the start of the subscriptions until the last video is stored, then checks all of them. */
  async follow(videos: number, bytes: number): Promise<Measured & { readonly sums: Sums }> {
    const connections = await this.connect();
    await this.settle();
    const processors = () => processorMs(this.service.pid) + processorMs(this.database.pid);
    const [spent, begun] = [processors(), performance.now()];
    const startTime = new Date(Date.now() - 13 * 3_600_000).toISOString();
    const subscriptions = await Promise.all(
      connections.map((connectionId) =>
        this.service.admin<{ id: string }>('POST', '/video-subscriptions', {
          connectionId,
          truckId: 'TRUCK-7',
          startTime,
        }),
      ),
    );
    while ((await this.storedBy(connections)) < videos) await delay(LOOK_MS);
    const figures = { ms: performance.now() - begun, processorMs: processors() - spent };
    for (const { id } of subscriptions) await this.service.call('DELETE', `/video-subscriptions/${id}`);
    return { ...figures, sums: await this.check(connections, videos, bytes) };
  }

  /** The same videos with curl; with `safe` it also syncs them and computes their SHA-256. */
  async curl(videos: number, safe: boolean): Promise<Measured & { readonly sums: Sums }> {
    const folder = join(this.database.folder, 'curl');
    mkdirSync(folder);
    const names = Array.from({ length: videos }, (_, n) => String(n));
    const config = names.map((n) => `url = "${this.partnerUrl}/videos/${n}.mp4"\noutput = "${join(folder, n)}"\n`);
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
      String(this.connections * DOWNLOADS_PER_CONNECTION),
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
    for (const [video, sum] of other)
      if (one.get(video) !== sum) throw new Error(`video ${video} differs from that of curl`);
    if (one.size !== other.size) throw new Error(`${one.size} videos instead of ${other.size}`);
  }

  /** Flushes writes and collects garbage of the previous measurement. */
  private async settle(): Promise<void> {
    await this.database.client.query('CHECKPOINT');
    await shell('sync');
    collectGarbage();
  }

  private async connect(): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < this.connections; n++) {
      const { id: haulerId } = await this.service.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
      const customerId = `${n}-of-${this.connections}`;
      const vision = { haulerId, interface: 'vision', baseUrl: this.partnerUrl, apiKey: 'k', customerId };
      ids.push((await this.service.admin<{ id: string }>('POST', '/connections', vision)).id);
    }
    return ids;
  }

  private async storedBy(connections: readonly string[]): Promise<number> {
    const { rows } = await this.database.client.query<{ stored: number; ended: number }>(
      `SELECT count(*) FILTER (WHERE status = 'stored')::int AS stored,
         count(*) FILTER (WHERE status IN ('failed', 'expired'))::int AS ended
       FROM recordings WHERE connection_id = ANY ($1)`,
      [connections],
    );
    const [row] = rows;
    if (row === undefined || row.ended > 0) throw new Error(`${row?.ended} downloads failed`);
    return row.stored;
  }

  /** Checks status, length and SHA-256 of every recording, and deletes the files. */
  private async check(connections: readonly string[], videos: number, bytes: number): Promise<Sums> {
    const { rows } = await this.database.client.query<StoredRow>(
      'SELECT id, partner_recording_id AS video, status, size_bytes AS size, sha256 FROM recordings WHERE connection_id = ANY ($1)',
      [connections],
    );
    if (rows.length !== videos) throw new Error(`${rows.length} rows instead of ${videos}`);
    for (const { id, video, status, size, sha256 } of rows) {
      const content = await this.service.call('GET', `/recordings/${id}/content`);
      const hash = createHash('sha256');
      let received = 0;
      for await (const piece of (content.body ?? []) as AsyncIterable<Uint8Array>) {
        hash.update(piece);
        received += piece.length;
      }
      const whole =
        status === 'stored' && Number(size) === bytes && received === bytes && hash.digest('hex') === sha256;
      if (!whole) throw new Error(`video ${video} is not complete`);
    }
    await shell('find "$1" -name "*.mp4" -type f -delete', this.database.folder);
    return new Map(rows.map(({ video, sha256 }) => [video, sha256]));
  }
}

const sumsOf = (text: string): Sums =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
