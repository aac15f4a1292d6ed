import { setTimeout as delay } from 'node:timers/promises';
import type { CatalogSite } from '../../src/contracts/admin/catalog.routes.js';
import type { QuarantinedRecord, SyncRun } from '../../src/contracts/admin/sync-runs.routes.js';
import { WorkService } from '../../src/core/work/work.service.js';
import { lockCatalog } from '../../src/site-sync/sync/catalog-sync.repository.js';
import { SITE_SYNC_WORK } from '../../src/site-sync/sync/sync-runs.repository.js';
import { createHauler } from './api-keys.js';
import { startTestApp, type TestApp, type TestAppOptions } from './app.js';
import { json, type ScriptedPartner, type ScriptedReply, startScriptedPartner } from './scripted-partner.js';
import { waitingSessions } from './rows.js';
import type { PlainSiteData } from './site-data.js';

export const SITES_ROUTE = 'GET /scale-platform/v1/sites';
export const PARTNER_KEY = 'the-key-that-the-partner-issued';

export const answer = (data: unknown, headers: Record<string, string> = {}): ScriptedReply =>
  json({ success: true, data }, { headers });

/** The counts of a run that are not zero. */
export function counts(run: SyncRun, kind: 'sites' | 'kiosks' | 'materials' = 'sites'): Record<string, number> {
  return Object.fromEntries(Object.entries(run.counts[kind]).filter(([, count]) => count > 0));
}

interface Page<T> {
  readonly data: T[];
}

/** What this instance finds due begins now, and not at its next tick. */
export const hurry = ({ app }: TestApp): void => app.get(WorkService).runDue(SITE_SYNC_WORK);

/** The service and a scripted partner, and one hauler with a connection between them. */
export class SiteScene {
  haulerId = '';
  connectionId = '';

  private constructor(
    readonly service: TestApp,
    readonly partner: ScriptedPartner,
  ) {}

  static async start(options: TestAppOptions = {}): Promise<SiteScene> {
    const partner = await startScriptedPartner();
    const env = { OUTBOUND_ALLOW_PRIVATE: true, ...options.env };
    return new SiteScene(await startTestApp({ ...options, env }), partner);
  }

  /** Another hauler of the same service, with a partner of its own. */
  async neighbour(): Promise<SiteScene> {
    const scene = new SiteScene(this.service, await startScriptedPartner());
    await scene.renew();
    return scene;
  }

  async stop(): Promise<void> {
    await this.service.close();
    await this.partner.stop();
  }

  /** A new hauler, a new connection, and a partner without a script. */
  async renew(): Promise<void> {
    this.partner.reset();
    this.haulerId = await createHauler(this.service);
    this.connectionId = await this.connect();
  }

  /** A paused connection, which only `sync` starts, unless it is enabled. */
  async connect(change: { haulerId?: string; enabled?: boolean; intervalSeconds?: number } = {}): Promise<string> {
    const { status, body } = await this.service.admin<{ id: string }>('POST', '/connections', {
      haulerId: this.haulerId,
      interface: 'site',
      baseUrl: this.partner.url,
      apiKey: PARTNER_KEY,
      enabled: false,
      ...change,
    });
    if (status !== 201) throw new Error(`no connection: ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  /** Starts due work now, without waiting for the next tick. */
  hurry(): void {
    hurry(this.service);
  }

  /** Sets the next answers of the partner. */
  answers(data: PlainSiteData, headers: Record<string, string> = {}): void {
    this.partner.on(SITES_ROUTE, answer(data, headers));
  }

  /** A run to its end; with `data`, of a partner that answers so from now on. */
  async sync(data?: PlainSiteData, connectionId = this.connectionId): Promise<SyncRun> {
    if (data !== undefined) this.answers(data);
    return this.ended(await this.request(connectionId));
  }

  async request(connectionId = this.connectionId): Promise<string> {
    const { status, body } = await this.service.admin<{ runId: string }>('POST', `/connections/${connectionId}/sync`);
    if (status !== 202) throw new Error(`no run: ${status} ${JSON.stringify(body)}`);
    return body.runId;
  }

  async ended(runId: string, withinMs = 20_000): Promise<SyncRun> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const run = await this.run(runId);
      if (run.finishedAt !== null) return run;
      if (Date.now() > deadline) throw new Error(`the run has not ended: ${JSON.stringify(run)}`);
      await delay(15);
    }
  }

  /** Newest first. */
  async runs(connectionId = this.connectionId): Promise<SyncRun[]> {
    return (await this.service.admin<Page<SyncRun>>('GET', `/sync-runs?connectionId=${connectionId}&pageSize=100`)).body
      .data;
  }

  async run(runId: string): Promise<SyncRun> {
    return (await this.service.admin<SyncRun>('GET', `/sync-runs/${runId}`)).body;
  }

  async quarantine(runId: string): Promise<QuarantinedRecord[]> {
    const path = `/sync-runs/${runId}/quarantine?pageSize=100`;
    return (await this.service.admin<Page<QuarantinedRecord>>('GET', path)).body.data;
  }

  /** Locks the catalog of the hauler until `work` has ended; `waiting` returns the number of waiting runs. */
  async whileCatalogIsLocked(work: (waiting: () => Promise<number>) => Promise<void>): Promise<void> {
    await this.service.database.transaction(async (transaction) => {
      await lockCatalog(transaction, this.haulerId);
      await work(() => waitingSessions(transaction));
    });
  }

  async sites(query = ''): Promise<CatalogSite[]> {
    const path = `/sites?haulerId=${this.haulerId}&pageSize=100${query}`;
    return (await this.service.admin<Page<CatalogSite>>('GET', path)).body.data;
  }
}
