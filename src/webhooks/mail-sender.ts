import { Inject, Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { storableText } from '../contracts/common/text.js';
import type { DeliveryReason } from '../contracts/webhooks/delivery.values.js';
import { networkCause } from '../core/outbound/network-errors.js';
import { redactText } from '../core/observability/redaction.js';
import { ANSWER_MS } from './http-sender.js';
import type { Attempt } from './delivery.rules.js';

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
