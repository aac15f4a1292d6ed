import { Inject, Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { storableText } from '../contracts/common/text.js';
import type { DeliveryReason } from '../contracts/webhooks/delivery.values.js';
import { networkCause } from '../contracts/common/network-cause.js';
import { redactText } from '../core/observability/redaction.js';
import { ANSWER_MS, HttpSender } from './http-sender.js';
import { type Attempt, mailOf, slackBody, standardBody } from './delivery.rules.js';
import { openKey, SealBrokenError } from '../partner-client/connection-keys.service.js';
import type { DeliveryRow } from './deliveries.repository.js';
import type { EndpointRow } from './endpoints.repository.js';
import { signatureHeaders } from './endpoint.rules.js';

const MAX_KEPT = 1_000;

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for each try, so that a mail that was accepted twice is one. */
  readonly id: string;
}

/** The mail server of `SMTP_URL`. The operator names it, so its address may be a private one. */
@Injectable()
export class MailSender {
  constructor(@Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SMTP_URL' | 'SMTP_FROM'>) {}

  /** Never rejects. */
  async send({ to, subject, text, id }: Mail): Promise<Attempt> {
    const { SMTP_URL, SMTP_FROM } = this.env;
    if (SMTP_URL === undefined) return { reason: 'mail-off' };
    const transport = createTransport({
      url: SMTP_URL,
      connectionTimeout: ANSWER_MS,
      greetingTimeout: ANSWER_MS,
      socketTimeout: ANSWER_MS,
      dnsTimeout: ANSWER_MS,
      // A text or an attachment is never a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const { response } = await transport.sendMail({
        from: SMTP_FROM,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@haulbridge>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return { response: replyOf(response) };
    } catch (error) {
      const { responseCode, response } = error as { readonly responseCode?: number; readonly response?: string };
      if (responseCode === undefined) return { reason: unsentReason(error) };
      return { reason: 'mail-refused', response: replyOf(response ?? '', responseCode) };
    } finally {
      transport.close();
    }
  }
}

function unsentReason(error: unknown): DeliveryReason {
  const cause = networkCause(error);
  if (cause !== undefined) return cause;
  return (error as NodeJS.ErrnoException).code === 'ETIMEDOUT' ? 'timed-out' : 'mail-unreachable';
}

function replyOf(text: string, code = Number.parseInt(text, 10)): NonNullable<Attempt['response']> {
  return {
    status: Number.isInteger(code) ? code : 0,
    body: redactText(storableText(text)).slice(0, MAX_KEPT).toWellFormed(),
  };
}

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
