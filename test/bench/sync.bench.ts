import { setTimeout as delay } from 'node:timers/promises';
import type { SyncRun } from '../../src/contracts/admin/sync-runs.routes.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { processorMs, type Service, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';
import { copyAnswer } from './sync-floor.js';

/** Issue 3: 500 sites and 2,000 kiosks stand beside 100,000 materials. */
const USUAL_SIZES = ['100000'];
const ROUNDS = 3;
const WARM_UP_MATERIALS = 10_000;

interface Measured {
  readonly ms: number;
  /** Of the service (of the floor: of this process) and of PostgreSQL; what else runs on the machine hardly matters to it. */
  readonly processorMs: number;
}

type Step = 'floor' | 'first' | 'the same bytes' | 'the same data';

/**
 * First and unchanged synchronisation beside the floor: `JSON.parse` of the same body and COPY of the
 * same rows into the same indexed tables. Arguments: numbers of materials, 100,000 if none. Each is the median of three.
 */
export async function run(sizes: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const rows: Row[] = [['materials', 'MB', 'run', 'ms', '× floor', '× first', 'CPU ms']];
  for (const size of sizes.length === 0 ? USUAL_SIZES : sizes)
    rows.push(...(await measureSize(database, Number(size))));
  report('sync', rows);
}

/** A service of its own for each size: what an earlier one has taken of memory would hide what this one takes. */
async function measureSize(database: BenchDatabase, materials: number): Promise<Row[]> {
  const service = await startService(database, { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' });
  const url = await partnerOf(materials);
  await new Bench(database, service, await partnerOf(WARM_UP_MATERIALS), WARM_UP_MATERIALS).round();
  const rounds: Record<Step, Measured>[] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await new Bench(database, service, url, materials).round());
  await service.stop();
  const sizeMb = (await (await fetch(url)).arrayBuffer()).byteLength / 1_048_576;
  const of = (step: Step, figure: keyof Measured) => median(rounds.map((round) => round[step][figure]));
  return (Object.keys(rounds[0] ?? {}) as Step[]).map((step) => [
    materials,
    sizeMb,
    step,
    of(step, 'ms'),
    of(step, 'ms') / of('floor', 'ms'),
    of(step, 'ms') / of('first', 'ms'),
    of(step, 'processorMs'),
  ]);
}

async function partnerOf(materials: number): Promise<string> {
  const counts = [materials / 200, materials / 50, materials].map((count) => String(Math.ceil(count)));
  return (await startPeer('sites.mjs', ...counts)).url;
}

class Bench {
  private connectionId = '';

  constructor(
    private readonly database: BenchDatabase,
    private readonly service: Service,
    private readonly partnerUrl: string,
    private readonly materials: number,
  ) {}

  async round(): Promise<Record<Step, Measured>> {
    const floor = await this.floor();
    await this.connect();
    return {
      floor,
      first: await this.measure({ created: this.materials }),
      'the same bytes': await this.measure({ unchanged: this.materials }),
      'the same data': await this.measure({ unchanged: this.materials }, '/reworded'),
    };
  }

  private async floor(): Promise<Measured> {
    const { client } = this.database;
    await client.query('TRUNCATE sites, kiosks, materials');
    const body = Buffer.from(await (await fetch(this.partnerUrl)).arrayBuffer());
    const spent = this.spent(process.pid);
    await copyAnswer(client, body);
    const figures = spent();
    await client.query('TRUNCATE sites, kiosks, materials');
    return figures;
  }

  /** The last run of the connection, which must have done just this to the materials. */
  private async measure(expected: Partial<SyncRun['counts']['materials']>, before?: string): Promise<Measured> {
    if (before !== undefined) await fetch(this.partnerUrl + before, { method: 'PUT' });
    const spent = this.spent(this.service.pid);
    const run = await this.synchronise();
    const figures = spent();
    const counts = run.counts.materials;
    for (const [name, count] of Object.entries(expected)) {
      if (counts[name as keyof typeof counts] !== count) throw new Error(`not ${name}: ${JSON.stringify(counts)}`);
    }
    return figures;
  }

  private spent(pid: number): () => Measured {
    const processors = () => processorMs(pid) + processorMs(this.database.pid);
    const before = processors();
    const begun = performance.now();
    return () => ({ ms: performance.now() - begun, processorMs: processors() - before });
  }

  private async connect(): Promise<void> {
    const hauler = await this.service.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
    const connection = {
      haulerId: hauler.id,
      interface: 'site',
      baseUrl: this.partnerUrl,
      apiKey: 'k',
      enabled: false,
    };
    this.connectionId = (await this.service.admin<{ id: string }>('POST', '/connections', connection)).id;
  }

  private async synchronise(): Promise<SyncRun> {
    const { runId } = await this.service.admin<{ runId: string }>('POST', `/connections/${this.connectionId}/sync`);
    for (;;) {
      const run = await this.service.admin<SyncRun>('GET', `/sync-runs/${runId}`);
      if (run.status === 'succeeded') return run;
      if (run.finishedAt !== null) throw new Error(`${run.status}: ${run.error}`);
      await delay(5);
    }
  }
}
