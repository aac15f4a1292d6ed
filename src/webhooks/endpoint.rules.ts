import { createHmac, randomBytes } from 'node:crypto';
import { isEmail } from 'class-validator';
import type { Principal } from '../core/http/principal.js';
import type { WebhookFormat } from '../contracts/admin/webhooks.routes.js';
import type { RuleName } from '../contracts/common/rules.js';
import type { Violation } from '../contracts/common/violation.js';
import { TOPIC_NAMES, type TopicName, topicOf } from '../contracts/webhooks/topics.values.js';
import { type OutboundPolicy, resolvedUrlFault } from '../core/outbound/address-guard.js';

const PREFIX = 'whsec_';
const BYTES = 24;

/** A new secret: `whsec_` and base64, as Standard Webhooks writes it. */
export const newSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** What is sent. */
interface SignedMessage {
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

/** Endpoints of one partner, and of all together. */
export const MAX_OWN_ENDPOINTS = 10;
export const MAX_ENDPOINTS = 500;

/** Whose endpoints a call may reach: of the operator all, of a partner those of its key. */
export interface EndpointScope {
  /** The first key of the rotations of a partner's key; null for the operator. */
  readonly keyId: string | null;
  readonly haulerId: string | null;
  readonly connectionId: string | null;
  readonly topics: readonly TopicName[];
  readonly formats: readonly WebhookFormat[];
}

export const OPERATOR: EndpointScope = {
  keyId: null,
  haulerId: null,
  connectionId: null,
  topics: TOPIC_NAMES,
  formats: ['standard', 'slack', 'email'],
};

const startsWith =
  (...subjects: string[]) =>
  (topic: TopicName) =>
    subjects.includes(topic.split('.')[0] ?? '');

const isState = (topic: TopicName): boolean => topicOf(topic).isState === true;

/** The topics that a partner's key opens. */
export function topicsOf({ interfaces, haulerId, connectionId }: Principal): readonly TopicName[] {
  if (connectionId !== null) return TOPIC_NAMES.filter(startsWith('sync', 'clip', 'recording', 'connection', 'key'));
  const has = (name: 'scale' | 'account') => haulerId !== null && interfaces.has(name);
  const subjects = ['key', ...(has('scale') ? ['ticket'] : []), ...(has('account') ? ['account'] : [])];
  return TOPIC_NAMES.filter(startsWith(...subjects));
}

/** An endpoint as it would be after the call. */
export interface WantedEndpoint {
  readonly url: string;
  readonly topics: readonly TopicName[];
  readonly format: WebhookFormat;
  readonly haulerId: string | null;
}

/** Violations beyond the form of the fields. The host name of the address is resolved. */
export async function endpointViolations(
  { url, topics, format }: WantedEndpoint,
  scope: EndpointScope,
  options: { readonly policy: OutboundPolicy; readonly hasMail: boolean },
): Promise<Violation[]> {
  const violations: Violation[] = [];
  const refuse = (path: string, rule: RuleName, message: string) => violations.push({ path, rule, message });
  const closed = topics.filter((topic) => !scope.topics.includes(topic));
  if (closed.length > 0) {
    refuse(
      'topics',
      'isEnum',
      `topics must be of ${scope.topics.join(', ')}: the key does not open ${closed.join(', ')}`,
    );
  }
  const frequent = format === 'standard' ? [] : topics.filter((topic) => !isState(topic));
  if (frequent.length > 0) {
    const states = scope.topics.filter(isState).join(', ');
    refuse('topics', 'isEnum', `topics must be of ${states} for the format ${format}, not ${frequent.join(', ')}`);
  }
  if (!scope.formats.includes(format)) {
    refuse('format', 'isEnum', `format must be one of ${scope.formats.join(', ')}`);
  } else if (format === 'email') {
    if (!options.hasMail) refuse('format', 'isEnum', 'format email needs SMTP_URL in the environment of the service');
    const fault = mailFault(url);
    if (fault !== undefined) refuse('url', 'isEmail', `url ${fault}`);
  } else {
    const fault = await resolvedUrlFault(url, options.policy);
    if (fault !== undefined) refuse('url', 'isAddress', `url is refused: ${fault}`);
  }
  return violations;
}

/** The address as it is shown: that of Slack is a secret, and is cut after its host. */
export const shownAddress = ({ url, format }: { readonly url: string; readonly format: WebhookFormat }): string =>
  format === 'slack' ? `${new URL(url).origin}/…` : url;

/** Exactly one address: further ones, and headers in a query, would be an open door for others' mail. */
function mailFault(url: string): string | undefined {
  const [, text] = /^mailto:([^?#]+)$/i.exec(url) ?? [];
  const address = text === undefined ? undefined : decoded(text);
  const isOne = address !== undefined && /^[\x21-\x7e]+$/.test(address) && isEmail(address);
  return isOne ? undefined : 'must be mailto: and one address, such as mailto:dana@example.com';
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
