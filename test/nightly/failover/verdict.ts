import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageName } from '../../../src/core/storage/storage-names.js';
import type { BuiltService } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import type { Cluster } from './cluster.js';
import type { Kind, Load } from './load.js';
import type { Scene } from './scene.js';

const COLUMNS: Readonly<Record<Kind, string>> = {
  tickets: `SELECT id, custom_fields::jsonb ->> 'ref' AS ref FROM tickets`,
  accounts: 'SELECT id, account_name AS ref FROM accounts',
};
const SETTLED_MS = 60_000;

export interface Verdict {
  /** References of acknowledged elements that the database or the API does not have, and of those that are there twice. */
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly others: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** What the partner was promised, against the database and the API. */
export async function verdictOf(cluster: Cluster, scene: Scene, load: Load): Promise<Verdict> {
  const kinds = await Promise.all(
    (['tickets', 'accounts'] as const).map((kind) => compare(kind, cluster, scene.instances[0], load)),
  );
  const { calls, stored, lost } = await exchangesOf(cluster, scene, load);
  const others = [
    ...kinds.flatMap(({ others: found }) => found),
    ...(stored + lost === calls ? [] : [`${calls} calls, ${stored} exchanges stored, ${lost} counted as lost`]),
    ...(await unfinishedRuns(cluster)),
    ...(await incompleteFiles(cluster, scene)),
  ];
  return {
    lost: kinds.flatMap((kind) => kind.lost),
    doubled: kinds.flatMap((kind) => kind.doubled),
    others,
    figures: { acknowledged: load.acknowledged('tickets').size, calls, 'exchanges lost': lost },
  };
}

async function compare(kind: Kind, cluster: Cluster, service: BuiltService, load: Load) {
  const rows = await cluster.onPrimary<{ id: string; ref: string }>(COLUMNS[kind]);
  const stored = Map.groupBy(rows, ({ ref }) => ref);
  const read = await readBack(service, kind);
  const isLost = ([ref, id]: [string, string]) =>
    stored.get(ref)?.some((row) => row.id === id) !== true || read.get(id) !== ref;
  return {
    lost: [...load.acknowledged(kind)].filter(isLost).map(([ref]) => ref),
    doubled: [...stored].filter(([, all]) => all.length > 1).map(([ref]) => ref),
    others: read.size === rows.length ? [] : [`the API has ${read.size} ${kind}, the database ${rows.length}`],
  };
}

interface Page {
  readonly data: {
    readonly id?: string;
    readonly accountId?: string;
    readonly customFields?: { readonly ref: string };
    readonly accountName?: string;
  }[];
  readonly pagination: { readonly next: string | null };
}

/** All that the API lists: the reference by the id. */
async function readBack(service: BuiltService, kind: Kind): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let cursor: string | null | undefined; cursor !== null;) {
    const after: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await service.admin<Page>('GET', `/${kind}?pageSize=100${after}`);
    for (const { id, accountId, customFields, accountName = '' } of body.data)
      found.set(id ?? accountId ?? '', customFields?.ref ?? accountName);
    cursor = body.pagination.next;
  }
  return found;
}

/**
 * What an instance logged as an error of its own. An unavailable database is a warning, but for an action, which the log keeps in
 * place of the database.
 */
export const loggedErrors = ({ instances }: Scene): string[] =>
  instances.flatMap((instance) =>
    instance
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":50') && !line.includes('an action could not be stored')),
  );

/** A run that failed because the database was away may stand; a run that never ends may not. */
async function unfinishedRuns(cluster: Cluster): Promise<string[]> {
  const statuses = async () =>
    cluster.onPrimary<{ status: string; error: string | null }>('SELECT status, error FROM sync_runs ORDER BY id DESC');
  const rows = await eventually(async () => {
    const found = await statuses();
    if (found[0]?.status !== 'succeeded') throw new Error(`the newest run is ${found[0]?.status}`);
    return found;
  }, SETTLED_MS);
  return rows
    .filter(({ status, error }) => status !== 'succeeded' && !(status === 'failed' && /database/.test(error ?? '')))
    .map(({ status, error }) => `a synchronisation is ${status}: ${error}`);
}

async function incompleteFiles(cluster: Cluster, scene: Scene): Promise<string[]> {
  const rows = await cluster.onPrimary<{ id: string; sha256: string }>(
    "SELECT id, sha256 FROM recordings WHERE status = 'stored'",
  );
  const sum = (id: string) =>
    createHash('sha256')
      .update(readFileSync(join(scene.dataDir, 'videos', storageName('recordings', id))))
      .digest('hex');
  return rows.filter(({ id, sha256 }) => sum(id) !== sha256).map(({ id }) => `the file of ${id} is not complete`);
}

async function exchangesOf(cluster: Cluster, scene: Scene, load: Load) {
  const sums = () => Promise.all(scene.instances.map((instance) => metricsOf(instance)));
  const settled = await eventually(async () => {
    const all = await sums();
    if (all.some(({ waiting }) => waiting > 0)) throw new Error('exchanges wait');
    return all;
  }, SETTLED_MS);
  const [row] = await cluster.onPrimary<{ stored: number }>(
    `SELECT count(*)::int AS stored FROM exchanges WHERE direction = 'inbound' AND interface IN ('scale', 'account')`,
  );
  return {
    calls: load.answers.length,
    stored: row?.stored ?? 0,
    lost: settled.reduce((sum, { lost }) => sum + lost, 0),
  };
}

async function metricsOf({ url }: BuiltService): Promise<{ waiting: number; lost: number }> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: 'Bearer test-admin-token-0123456789' } });
  const text = await response.text();
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\d+)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return { waiting: sum('exchanges_waiting'), lost: sum('exchanges_lost_total') };
}
