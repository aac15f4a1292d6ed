import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const BYTES = 24;

/** A new secret: `whsec_` and base64, as Standard Webhooks writes it. */
export const newSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** What is sent. */
export interface SignedMessage {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks 1.0, with one signature for each secret. */
export function signatureHeaders({ id, timestamp, body }: SignedMessage, secrets: readonly string[]) {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
