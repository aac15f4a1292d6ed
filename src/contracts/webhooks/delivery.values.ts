import { NETWORK_CAUSE_CODES, NETWORK_CAUSES, type NetworkCause } from '../common/network-causes.values.js';

const ofNetwork = Object.fromEntries(
  NETWORK_CAUSE_CODES.map((code) => [
    code,
    `The receiver or the mail server could not be reached: ${NETWORK_CAUSES[code]}.`,
  ]),
) as Record<NetworkCause, string>;

/** Why the last try of a delivery did not succeed, as a code and as a sentence. */
export const DELIVERY_REASONS = {
  'http-status': 'The receiver answered with another status than 2xx.',
  redirected: 'The receiver answered with a redirect, which is not followed.',
  gone: 'The receiver answered 410: the endpoint was disabled.',
  'timed-out': 'The receiver did not answer in time.',
  unreachable: 'The receiver could not be reached, for another reason than those below.',
  ...ofNetwork,
  broken: 'The connection broke before the status of the answer had come.',
  'address-refused': 'The address may not be called: only public addresses with https are.',
  'secret-unreadable': 'The secret cannot be decrypted with this SECRETS_KEY: rotate it.',
  'mail-off': 'SMTP_URL is not set, so no e-mail is sent.',
  'mail-unreachable': 'The mail server could not be reached.',
  'mail-refused': 'The mail server refused the message.',
  'switched-off': 'Calls are switched off, so the test was not sent.',
  interrupted: 'The service ended during the try.',
  disabled: 'The endpoint was disabled before the delivery succeeded.',
} as const satisfies Readonly<Record<string, string>>;

export type DeliveryReason = keyof typeof DELIVERY_REASONS;
export const DELIVERY_REASON_CODES = Object.keys(DELIVERY_REASONS) as DeliveryReason[];

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
