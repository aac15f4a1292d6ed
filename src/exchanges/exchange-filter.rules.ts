import { type ReplayExchangesRequest } from '../contracts/admin/exchange-query.dto.js';
import { epochMillis } from '../contracts/common/instant.js';
import { parseReference } from '../contracts/common/references.js';
import type { Violation } from '../contracts/common/violation.js';
import { filteredHauler } from '../core/database/hauler-limit.js';
import { invalid } from '../core/errors/app-error.js';
import type { ExchangeFilter } from './exchange-list.sql.js';

/** The filter of a query, without its cursor. */
export function filterOf(query: Omit<ReplayExchangesRequest, 'dryRun'>): ExchangeFilter {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, errorCode, requestId, reason } = query;
  return {
    direction,
    interface: name,
    haulerId: filteredHauler(haulerId),
    connectionId,
    apiKeyId,
    errorCode,
    requestId,
    reason,
    failed: query.failed,
    rehearsed: query.rehearsed,
    status: statusRange(query.status),
    reference: query.reference === undefined ? undefined : parseReference(query.reference),
    from: query.from === undefined ? undefined : epochMillis(query.from),
    to: query.to === undefined ? undefined : epochMillis(query.to),
  };
}

function statusRange(status: string | undefined): [number, number] | undefined {
  if (status === undefined) return undefined;
  if (status === 'none') return [0, 0];
  const hundreds = Number(status[0]) * 100;
  return status.endsWith('xx') ? [hundreds, hundreds + 99] : [Number(status), Number(status)];
}

/** An unknown filter must not show everything. */
export function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const violations = names
    .filter((name) => !known.includes(name))
    .map((name): Violation => ({
      path: name.slice(0, 100),
      rule: 'isKnown',
      message: `${name.slice(0, 100)} is not a filter: use ${known.join(', ')}`,
    }));
  if (violations.length > 0) throw invalid(violations);
}
