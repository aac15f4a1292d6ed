import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../../src/core/database/migrate.js';
import { type BuiltService, startService } from '../../support/built-service.js';
import { CatalogFixture } from '../../support/catalog.js';
import { sampleVideo } from '../../support/sample-video.js';
import { after, json } from '../../support/scripted-partner.js';
import { siteData } from '../../support/site-data.js';
import { testServer } from '../../support/test-run.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import type { Cluster } from './cluster.js';
import type { House } from './load.js';

const SITES = 'GET /scale-platform/v1/sites';
/** Of each case. Four are fetched at once, so that downloads go on through the whole of a fault. */
const CHUNKS = 24;
const SLICES = 20;
const SLICE_MS = 200;
const SYNC_EVERY_MS = 2_000;

/** Two instances, a scale house, and partners whose synchronisations and downloads go on. */
export class Scene {
  private isSyncing = true;
  private syncing: Promise<void> = Promise.resolve();
  /** Trucks with recordings so far. */
  private trucks = 0;

  private constructor(
    readonly instances: readonly [BuiltService, BuiltService],
    readonly dataDir: string,
    readonly house: House,
    private readonly partner: VisionPartner,
    private readonly connections: { readonly site: string; readonly vision: string },
  ) {}

  static async open(cluster: Cluster): Promise<Scene> {
    await migrate(cluster.url);
    const dataDir = mkdtempSync(join(testServer().folder, 'failover-'));
    // Partners come from many addresses, as through a balancer: one address has a limit of connections.
    const options = { databaseUrl: cluster.url, dataDir, env: { TRUST_PROXY: '127.0.0.1' } };
    const instances = await Promise.all([startService(options), startService(options)]);
    const partner = await startVisionPartner();
    partner.on(SITES, after(500, json({ success: true, data: siteData(3, 6, 200) })));
    const [service] = instances;
    const haulerId = (await created<{ id: string }>(service, '/haulers', { name: 'Failed-over Hauling' })).id;
    const { key } = await created<{ key: string }>(service, '/api-keys', {
      haulerId,
      interfaces: ['scale', 'account'],
    });
    const house = { key, ...(await catalogOf(cluster, haulerId)) };
    // Another hauler: this synchronisation would remove the site of the tickets.
    const synced = (await created<{ id: string }>(service, '/haulers', { name: 'Synced Hauling' })).id;
    const shared = { baseUrl: partner.url, apiKey: 'the-partners-key', enabled: true };
    const site = { haulerId: synced, interface: 'site', ...shared };
    const vision = { haulerId, interface: 'vision', customerId: 'customer-1', ...shared };
    const [{ id: siteId }, { id: visionId }] = (await Promise.all(
      [site, vision].map((body) => created<{ id: string }>(service, '/connections', body)),
    )) as [{ id: string }, { id: string }];
    const scene = new Scene(instances, dataDir, house, partner, { site: siteId, vision: visionId });
    scene.syncing = scene.synchronise();
    return scene;
  }

  /** A further truck, whose recordings are fetched from now on. */
  async offerRecordings(): Promise<void> {
    const truckId = `TRUCK-${this.trucks++}`;
    const chunks = Array.from({ length: CHUNKS }, (_, i) =>
      element({
        truckId,
        startTime: inHours(-5 + i / 100),
        endTime: inHours(-5 + (i + 1) / 100),
        durationSeconds: 36,
        downloadUrl: this.slowLink(),
      }),
    );
    const others = this.listed;
    this.listed = (truck) => (truck === truckId ? chunks : others(truck));
    this.partner.on(CONTINUOUS, (response, request) =>
      lists('recordings', () => this.listed(request.query.get('truckId')))(response, request),
    );
    const subscription = { connectionId: this.connections.vision, truckId, startTime: inHours(-6) };
    await created(this.instances[0], '/video-subscriptions', subscription);
  }

  get offered(): number {
    return this.trucks * CHUNKS;
  }

  /** How many recordings there are, by their status. */
  async recordings(cluster: Cluster): Promise<Record<string, number>> {
    const rows = await cluster.onPrimary<{ status: string; count: number }>(
      'SELECT status, count(*)::int FROM recordings GROUP BY status',
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  async close(): Promise<void> {
    this.isSyncing = false;
    await this.syncing;
    await Promise.all(this.instances.map((instance) => instance.end('SIGKILL')));
    await this.partner.stop();
  }

  private listed: (truck: string | null) => ReturnType<typeof element>[] = () => [];

  /** A file that takes some seconds, without a pause that would leave its place to another. */
  private slowLink(): string {
    const body = sampleVideo(200_000);
    return this.partner.link(body, (_request, response) => {
      response.writeHead(200, { 'Content-Length': body.length });
      let slice = 0;
      const timer = setInterval(() => {
        const [from, to] = [slice, ++slice].map((n) => Math.round((n / SLICES) * body.length));
        response.write(body.subarray(from, to));
        if (slice === SLICES) response.end();
      }, SLICE_MS);
      response.once('close', () => clearInterval(timer));
    });
  }

  /** As an administrator would, on either instance. */
  private async synchronise(): Promise<void> {
    for (let n = 0; this.isSyncing; n++) {
      const instance = this.instances[n % 2] as BuiltService;
      await instance.admin('POST', `/connections/${this.connections.site}/sync`).catch(() => undefined);
      await delay(SYNC_EVERY_MS);
    }
  }
}

async function catalogOf(cluster: Cluster, haulerId: string): Promise<{ siteId: string; materialId: string }> {
  const client = new pg.Client(cluster.url);
  await client.connect();
  try {
    const query = async <T>(sql: string, parameters?: unknown[]) => (await client.query(sql, parameters)).rows as T;
    const catalog = new CatalogFixture({ query });
    const siteId = await catalog.site(haulerId);
    return { siteId, materialId: await catalog.material(haulerId, { siteId }) };
  } finally {
    await client.end();
  }
}

async function created<T>(service: BuiltService, path: string, body: unknown): Promise<T> {
  const reply = await service.admin<T>('POST', path, body);
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}
