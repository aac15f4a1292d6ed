import { expect } from '@jest/globals';
import { issueKey } from './api-keys.js';
import type { TestApp } from './app.js';
import type { Reply } from './http.js';
import { CatalogFixture } from './catalog.js';

export const TICKETS = '/platform-api/v1/tickets';

export interface TicketReply {
  readonly success: boolean;
  readonly disposalTicketId: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface StoredTicket {
  readonly siteId: string;
  readonly materials: readonly Record<string, unknown>[];
  readonly customFields?: Record<string, string>;
}

export interface StoredRevision {
  readonly result: string;
  readonly body: Record<string, unknown>;
}

/** A hauler with a key, a site and a material: what a partner's scale house has when it pushes its first ticket. */
export class ScaleHouse {
  private constructor(
    readonly service: TestApp,
    readonly haulerId: string,
    readonly key: string,
    readonly siteId: string,
    readonly materialId: string,
  ) {}

  static async open(service: TestApp): Promise<ScaleHouse> {
    const { haulerId, key } = await issueKey(service, ['scale']);
    const catalog = new CatalogFixture(service.dataSource);
    const siteId = await catalog.site(haulerId);
    return new ScaleHouse(service, haulerId, key, siteId, await catalog.material(haulerId, { siteId }));
  }

  material(over: Record<string, unknown> = {}): Record<string, unknown> {
    return { id: this.materialId, name: 'Debris', quantity: 12.5, unitOfMeasure: 'Ton', ...over };
  }

  /** A valid body with the fields of `over`; a field that is `undefined` there is absent. */
  ticket(over: Record<string, unknown> = {}): Record<string, unknown> {
    return { siteId: this.siteId, materials: [this.material()], ...over };
  }

  /** An object is sent as JSON, text and bytes as they are. */
  push(body: unknown, headers: Record<string, string> = {}, service = this.service): Promise<Reply<TicketReply>> {
    return service.call('POST', TICKETS, { headers: { 'PLATFORM-API-KEY': this.key, ...headers }, body });
  }

  /** Pushes a valid body with the fields of `over`, expects 200, and returns the id of the ticket. */
  async expectAccepted(over: Record<string, unknown>): Promise<string> {
    const reply = await this.push(this.ticket(over));
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('disposalTicketId')]);
    return reply.body.disposalTicketId;
  }

  async stored(id: string): Promise<StoredTicket> {
    const { status, body } = await this.service.admin<StoredTicket>('GET', `/tickets/${id}`);
    if (status !== 200) throw new Error(`no ticket ${id}: ${status}`);
    return body;
  }

  async revisions(id: string): Promise<readonly StoredRevision[]> {
    const { body } = await this.service.admin<{ data: StoredRevision[] }>('GET', `/tickets/${id}/revisions`);
    return body.data;
  }
}
