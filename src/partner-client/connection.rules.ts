import type { RuleName } from '../contracts/common/rules.js';
import type {
  CreateConnectionRequest,
  PartnerInterface,
  UpdateConnectionRequest,
} from '../contracts/admin/connections.routes.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import type { Violation } from '../contracts/common/violation.js';
import { type OutboundPolicy, resolvedUrlFault } from '../core/outbound/address-guard.js';

/** Seconds between runs, by interface (decisions 36 and 48). */
export const INTERVALS = {
  site: { min: 60, standard: 900 },
  vision: { min: 30, standard: 300 },
} as const satisfies Record<PartnerInterface, { min: number; standard: number }>;

type Given = Pick<
  CreateConnectionRequest & UpdateConnectionRequest,
  'baseUrl' | 'customerId' | 'intervalSeconds' | 'firstByteTimeoutSeconds'
>;

/** Violations beyond the form of the fields. The host name of the address is resolved. */
export async function connectionViolations(
  name: PartnerInterface,
  given: Partial<Given>,
  policy: OutboundPolicy,
): Promise<Violation[]> {
  const violations: Violation[] = [];
  const refuse = (path: string, rule: RuleName, message: string) => violations.push({ path, rule, message });
  if (given.baseUrl !== undefined) {
    // The text is checked, because parsing removes an empty query or fragment.
    const fault = /[?#]/.test(given.baseUrl)
      ? 'The address must not contain a query or a fragment.'
      : await resolvedUrlFault(given.baseUrl, policy);
    if (fault !== undefined) refuse('baseUrl', 'isAddress', `baseUrl is refused: ${fault}`);
  }
  for (const path of ['customerId', 'firstByteTimeoutSeconds'] as const) {
    if (given[path] === undefined || name === 'vision') continue;
    refuse(path, 'isForVision', `${path} belongs to a vision connection`);
  }
  const { min } = INTERVALS[name];
  if (given.intervalSeconds !== undefined && given.intervalSeconds < min) {
    refuse('intervalSeconds', 'isInteger', `intervalSeconds of a ${name} connection must be at least ${min}`);
  }
  return violations;
}

/**
 * A key belongs to the origin that it was saved with (decision 56). Otherwise a changed address and one call, such as a
 * check, send the stored key to another host.
 */
export function keyViolations(savedUrl: string, { baseUrl, apiKey }: UpdateConnectionRequest): Violation[] {
  if (baseUrl === undefined || apiKey !== undefined || !isOtherOrigin(savedUrl, baseUrl)) return [];
  const message = `apiKey is required with a baseUrl of another scheme, host or port: the stored key belongs to ${new URL(savedUrl).origin}`;
  return [{ path: 'apiKey', rule: 'isRequired', message }];
}

/** Compares the origins as a client writes them: lower case, punycode, without the default port. */
export const isOtherOrigin = (savedUrl: string, baseUrl: string): boolean =>
  new URL(savedUrl).origin !== new URL(baseUrl).origin;

/** Without a final slash, because the paths of the contracts are appended. */
export function normalBaseUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + withoutFinalSlashes(pathname);
}
