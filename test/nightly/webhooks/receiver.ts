import { expect } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { IssuedWebhookEndpoint, WebhookDelivery } from '../../../src/contracts/admin/webhooks.routes.js';
import type { TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import {
  type AskedRequest,
  type ScriptedPartner,
  type ScriptedReply,
  startScriptedPartner,
} from '../../support/scripted-partner.js';
import { hurryDeliveries } from '../../support/time.js';

/** Answers with a status. */
export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): ScriptedReply =>
  (response) =>
    response.writeHead(code, headers).end(body);

let paths = 0;

/** A receiver of webhooks with an endpoint of its own. */
export class Receiver {
  private constructor(
    readonly service: TestApp,
    readonly host: ScriptedPartner,
    readonly path: string,
    readonly endpoint: IssuedWebhookEndpoint,
  ) {}

  /** `over`: fields of the endpoint. */
  static async open(
    service: TestApp,
    over: Record<string, unknown> = {},
    ...replies: ScriptedReply[]
  ): Promise<Receiver> {
    const host = await startScriptedPartner();
    const path = `/hook/${++paths}`;
    host.on(`POST ${path}`, ...(replies.length === 0 ? [status(204)] : replies));
    const body = { url: host.url + path, topics: ['ticket.created', 'ticket.updated'], format: 'standard', ...over };
    const created = await service.admin<IssuedWebhookEndpoint>('POST', '/webhook-endpoints', body);
    expect([created.status, created.text]).toEqual([201, expect.stringContaining('whsec_')]);
    return new Receiver(service, host, path, created.body);
  }

  get received(): AskedRequest[] {
    return this.host.askedOf(`POST ${this.path}`);
  }

  /** The body of a request, after the library of Standard Webhooks has verified it. */
  verified(request: AskedRequest, secret = this.endpoint.secret): Record<string, unknown> {
    return new Webhook(secret).verify(request.body, request.headers as Record<string, string>) as Record<
      string,
      unknown
    >;
  }

  /** Waits for a number of requests. */
  gets(count: number): Promise<AskedRequest[]> {
    return eventually(() => {
      expect(this.received.length).toBeGreaterThanOrEqual(count);
      return this.received;
    });
  }

  async deliveries(query = ''): Promise<WebhookDelivery[]> {
    const path = `/webhook-deliveries?endpointId=${this.endpoint.id}${query}`;
    return (await this.service.admin<{ data: WebhookDelivery[] }>('GET', path)).body.data;
  }

  /** Waits until the only delivery is as expected. */
  delivery(expected: object): Promise<WebhookDelivery> {
    return eventually(async () => {
      const [only, ...others] = await this.deliveries();
      expect(others).toEqual([]);
      expect(only).toMatchObject(expected);
      return only as WebhookDelivery;
    });
  }

  /** Lets the waiting tries happen now. */
  async hurry(): Promise<void> {
    await hurryDeliveries(this.service, this.endpoint.id);
  }

  stop(): Promise<void> {
    return this.host.stop();
  }
}
