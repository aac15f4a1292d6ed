import { json, type ScriptedReply } from '../../support/scripted-partner.js';
import { type Hauler, type Plain, SITES_ROUTE, type SyncRun } from './hauler.js';
import { listed, read } from './target.js';

export const KINDS = ['sites', 'kiosks', 'materials'] as const;
export type Kind = (typeof KINDS)[number];

/** A record as the admin API lists it. */
export interface CatalogRecord extends Plain {
  readonly id: string;
  readonly externalId: string;
  readonly active: boolean;
}

/** A record that a run has quarantined or flagged. */
export interface Issue {
  readonly severity: 'quarantined' | 'flagged';
  readonly kind: Kind;
  readonly path: string;
  readonly reason: string;
  readonly raw: unknown;
}

export interface Guard {
  readonly kind: Kind;
  readonly removed: number;
  readonly of: number;
  readonly share: number;
}

export type SiteRun = SyncRun & { readonly guard?: readonly Guard[]; readonly attention?: string };

/** The counts of a run that are not zero. */
export const counts = (run: SyncRun, kind: Kind = 'sites'): Record<string, number> =>
  Object.fromEntries(Object.entries(run.counts[kind]).filter(([, count]) => count > 0));

/** The records of the hauler, as the admin API lists them. */
export const catalog = (hauler: Hauler, kind: Kind, query = ''): Promise<CatalogRecord[]> =>
  listed<CatalogRecord>(`/${kind}?haulerId=${hauler.id}${query}`, hauler.service);

/** All kinds, to be compared with themselves later. */
export const wholeCatalog = (hauler: Hauler): Promise<CatalogRecord[][]> =>
  Promise.all(KINDS.map((kind) => catalog(hauler, kind)));

export const activeSites = async (hauler: Hauler): Promise<number> =>
  (await catalog(hauler, 'sites', '&active=true')).length;

export const issuesOf = (hauler: Hauler, run: { readonly id: string }): Promise<Issue[]> =>
  listed<Issue>(`/sync-runs/${run.id}/quarantine`, hauler.service);

/** Sets the next answers of the hauler's partner. */
export async function answers(hauler: Hauler, ...replies: ScriptedReply[]): Promise<void> {
  (await hauler.siteConnection()).partner.on(SITES_ROUTE, ...replies);
}

export const siteAnswer = (data: unknown, headers: Readonly<Record<string, string>> = {}): ScriptedReply =>
  json({ success: true, data }, { headers });

/** The runs of a connection, newest first. */
export async function runsOf(hauler: Hauler, connectionId?: string): Promise<SiteRun[]> {
  const id = connectionId ?? (await hauler.siteConnection()).connectionId;
  return listed<SiteRun>(`/sync-runs?connectionId=${id}`, hauler.service);
}

/** A connection as the admin API shows it. */
export interface ShownConnection {
  readonly id: string;
  readonly enabled: boolean;
  readonly hasNextApiKey: boolean;
  readonly nextRunAt: string | null;
  readonly lastError: string | null;
}

export const connectionOf = (hauler: Hauler, id: string): Promise<ShownConnection> =>
  read<ShownConnection>(`/connections/${id}`, hauler.service);
