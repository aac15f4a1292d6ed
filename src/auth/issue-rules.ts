import type { IssueApiKeyRequest } from '../contracts/admin/api-key.dto.js';
import { epochMillis } from '../contracts/common/instant.js';
import type { Violation } from '../contracts/common/violation.js';

/** The platform's own interfaces belong to a hauler (decision 1). */
export function needsHauler({ interfaces }: Pick<IssueApiKeyRequest, 'interfaces'>): boolean {
  return interfaces.includes('scale') || interfaces.includes('account');
}

/** Violations of a request for a key that the fields alone do not show. */
export function issueViolations(request: IssueApiKeyRequest, now: number): Violation[] {
  const violations: Violation[] = [];
  const refuse = (path: string, rule: string, must: string) =>
    violations.push({ path, rule, message: `${path} ${must}` });
  if (needsHauler(request) && request.haulerId === undefined) {
    refuse('haulerId', 'isDefined', 'is required for scale and account');
  }
  if (request.customerId !== undefined && !request.interfaces.includes('vision')) {
    // Else the key would look limited and be not.
    refuse('customerId', 'isForVision', 'limits vision only, which is not among the interfaces');
  }
  if (request.expiresAt !== undefined && epochMillis(request.expiresAt) <= now) {
    refuse('expiresAt', 'isFuture', 'must be in the future');
  }
  return violations;
}
