import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { openKey, SealBrokenError } from '../partner-client/connection-keys.service.js';
import type { DeliveryRow } from './deliveries.repository.js';
import type { Attempt } from './delivery.rules.js';
import type { EndpointRow } from './endpoints.repository.js';
import { HttpSender } from './http-sender.js';
import { MailSender } from './mail-sender.js';
import { mailOf, slackBody, standardBody } from './messages.rules.js';
import { signatureHeaders } from './secrets.js';

type Event = Pick<DeliveryRow, 'id' | 'topic' | 'data' | 'created_at'>;

/** Sends an event in the format of its endpoint. */
@Injectable()
export class DeliverySender {
  constructor(
    private readonly http: HttpSender,
    private readonly mail: MailSender,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SECRETS_KEY' | 'PUBLIC_URL'>,
  ) {}

  async send(endpoint: EndpointRow, event: Event, signal?: AbortSignal): Promise<Attempt> {
    if (endpoint.format === 'email') {
      const to = decodeURIComponent(new URL(endpoint.url).pathname);
      return this.mail.send({ to, id: event.id, ...mailOf(event, this.env.PUBLIC_URL) });
    }
    const secrets = this.secretsOf(endpoint);
    if (secrets === undefined) return { reason: 'secret-unreadable' };
    const body = endpoint.format === 'slack' ? slackBody(event, this.env.PUBLIC_URL) : standardBody(event);
    const headers = signatureHeaders({ id: event.id, timestamp: Math.floor(Date.now() / 1000), body }, secrets);
    return this.http.send(endpoint.url, headers, body, { secrets, ...(signal === undefined ? {} : { signal }) });
  }

  /** The current one, and the former one within its overlap. */
  private secretsOf({
    id,
    sealed_secret,
    sealed_former_secret,
    former_secret_until,
  }: EndpointRow): string[] | undefined {
    const isFormerValid = former_secret_until !== null && former_secret_until.getTime() > Date.now();
    const sealed = [sealed_secret, ...(isFormerValid && sealed_former_secret !== null ? [sealed_former_secret] : [])];
    try {
      return sealed.map((each) => openKey(this.env.SECRETS_KEY, id, each));
    } catch (error) {
      if (error instanceof SealBrokenError) return undefined;
      throw error;
    }
  }
}
