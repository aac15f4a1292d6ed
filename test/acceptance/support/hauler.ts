import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { json, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf, material, type PlainSiteData, site } from '../../support/site-data.js';
import type { CallOptions } from '../../../clients/typescript/haulbridge.js';
import { type Answer, callClient } from './clients.js';
import { administer, read, type Service, target } from './target.js';

export const SITES_ROUTE = 'GET /scale-platform/v1/sites';
/** The key that the scripted partner issued to the platform. */
export const PARTNER_KEY = 'the-key-that-the-partner-issued';

export type Interface = 'scale' | 'account' | 'site' | 'vision';

/** One site with one material, as a partner lists them. */
export const ONE_SITE: PlainSiteData = {
  sites: [site('yard')],
  materials: [material('debris', { siteId: idOf('yard') })],
};

/** A valid ticket of `ONE_SITE`, without a flow. */
export const TICKET = {
  siteId: idOf('yard'),
  materials: [{ id: idOf('debris'), name: 'Debris', quantity: 12.5, unitOfMeasure: 'Ton' }],
};

export type Plain = Record<string, unknown>;

/** A flow whose `updatedAt` is so many minutes after a fixed moment. */
export const flow = (ticketNumber: string, minute = 0): Plain => ({
  ticketNumber,
  updatedAt: new Date(Date.UTC(2026, 0, 31, 8, minute)).toISOString(),
});

export interface ErrorBody {
  readonly success: boolean;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: {
      readonly reason?: string;
      readonly violations?: readonly { readonly path: string; readonly rule: string; readonly message: string }[];
    } & Plain;
  };
}

export type TicketAnswer = Answer<{ readonly disposalTicketId: string } & ErrorBody>;

export interface SyncRun {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly finishedAt: string | null;
  readonly counts: Readonly<Record<'sites' | 'kiosks' | 'materials', Readonly<Record<string, number>>>>;
}

export interface HaulerOptions {
  readonly sites?: PlainSiteData;
  readonly service?: Service;
  readonly id?: string;
  readonly name?: string;
}

/** A hauler that the product itself has made; each test has one of its own. */
export class Hauler {
  private keys = new Map<string, Promise<string>>();
  private site: Promise<{ partner: ScriptedPartner; connectionId: string }> | undefined;

  private constructor(
    readonly id: string,
    readonly service: Service,
  ) {}

  /** With `sites`, a scripted partner lists them, and they were synchronised once. */
  static async create({ sites, service = target, ...more }: HaulerOptions = {}): Promise<Hauler> {
    const body = { name: `Hauler ${randomUUID().slice(0, 8)}`, ...more };
    const { id } = await administer<{ id: string }>('POST', '/haulers', body, service);
    const hauler = new Hauler(id, service);
    if (sites !== undefined) await hauler.sync(sites);
    return hauler;
  }

  /** The same hauler with its keys, called at another instance on the same database. */
  at(service: Service): Hauler {
    const same = new Hauler(this.id, service);
    same.keys = this.keys;
    return same;
  }

  /** A key of this hauler, issued at its first use. */
  key(...interfaces: Interface[]): Promise<string> {
    const opened = interfaces.length > 0 ? interfaces : (['scale', 'account'] as const);
    const name = opened.join('+');
    const issued = this.keys.get(name) ?? this.issueKey({ interfaces: opened });
    this.keys.set(name, issued);
    return issued;
  }

  /** A new key with the fields of `more`. */
  async issueKey(more: Plain): Promise<string> {
    const body = { haulerId: this.id, ...more };
    return (await administer<{ key: string }>('POST', '/api-keys', body, this.service)).key;
  }

  /** Pushes `TICKET` with the fields of `ticket`; a field that is `undefined` is absent. */
  async push(ticket: Plain = {}, options: CallOptions = {}): Promise<TicketAnswer> {
    const given = { ...TICKET, ...ticket };
    return callClient('createTicket', { given, key: await this.key(), service: this.service, options });
  }

  async createAccount<Body = Plain & ErrorBody>(given: Plain, options: CallOptions = {}): Promise<Answer<Body>> {
    return callClient('createAccount', { given, key: await this.key(), service: this.service, options });
  }

  /** The scripted partner of the Site API and the paused connection to it, made at their first use. */
  siteConnection(): Promise<{ partner: ScriptedPartner; connectionId: string }> {
    return (this.site ??= this.connectSite());
  }

  /** Has the platform synchronise, of a partner that lists `data` from now on; returns the ended run. */
  async sync(data?: PlainSiteData, connectionId?: string): Promise<SyncRun> {
    const { partner } = await this.siteConnection();
    if (data !== undefined) partner.on(SITES_ROUTE, json({ success: true, data }));
    return this.ended(await this.requestSync(connectionId));
  }

  /** Requests a synchronisation; returns the id of the run. */
  async requestSync(connectionId?: string): Promise<string> {
    const path = `/connections/${connectionId ?? (await this.siteConnection()).connectionId}/sync`;
    return (await administer<{ runId: string }>('POST', path, undefined, this.service)).runId;
  }

  /** The run when it has ended. */
  async ended(runId: string, withinMs = 60_000): Promise<SyncRun> {
    const end = Date.now() + withinMs;
    // Many haulers wait at once: each looks more rarely the longer its run takes.
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, 300)) {
      const run = await read<SyncRun>(`/sync-runs/${runId}`, this.service);
      if (run.finishedAt !== null) return run;
      if (Date.now() > end) throw new Error(`the run has not ended: ${JSON.stringify(run)}`);
      await delay(pauseMs);
    }
  }

  /** A connection of this hauler with the fields of `body`. */
  async connect(body: Plain): Promise<string> {
    const connection = { haulerId: this.id, apiKey: PARTNER_KEY, ...body };
    return (await administer<{ id: string }>('POST', '/connections', connection, this.service)).id;
  }

  private async connectSite() {
    const partner = await startScriptedPartner();
    const connectionId = await this.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    return { partner, connectionId };
  }
}

/** The paths of the violations of a refusal. */
export const paths = ({ body }: Answer<ErrorBody>): string[] =>
  body.error.details?.violations?.map(({ path }) => path) ?? [];
