import { epochMillis, formatInstant } from '../contracts/common/instant.js';
import { summarise, type Violation } from '../contracts/common/violation.js';
import {
  flowConflict as conflictOf,
  MAX_HOURS_AHEAD,
  SCALE_API,
  unknownMaterial,
  unknownRecord,
  updatedAtInFuture,
} from '../contracts/scale/scale.api.js';
import { apiError, type AppError, violated } from '../core/errors/app-error.js';
import type { CatalogFindings, CatalogReference } from '../site-sync/catalog/catalog.repository.js';
import { DIRECTIONS, type Flow, type Push } from './ticket.js';
import type { Conflict } from './ticket.rules.js';

export const flowConflict = ({ conflict }: Conflict): AppError =>
  violated(SCALE_API, 'ruleViolated', conflictOf(...conflict), { details: { reason: 'FLOW_CONFLICT' } });

/**
 * The 422 for records that are unknown now. They may have been made since the last synchronisation. `synchronisedAt` is null
 * before the first one, and undefined without a Site connection.
 */
export function unknownRecords(violations: readonly Violation[], synchronisedAt: Date | null | undefined): AppError {
  const message = `${summarise(violations)}. ${catalogState(synchronisedAt)}`;
  return apiError(SCALE_API, 'ruleViolated', message, { details: { violations } });
}

function catalogState(synchronisedAt: Date | null | undefined): string {
  if (synchronisedAt === undefined) return 'The hauler has no Site connection: ask the platform to set one up.';
  const last =
    synchronisedAt === null
      ? 'have never been synchronised'
      : `were last synchronised at ${formatInstant(synchronisedAt)}`;
  return `The sites and materials ${last}. If one has just been added, send the ticket again in a minute.`;
}

/** Decision 21: a version is at most a day ahead of our clock. */
export function futureViolations({ flows, receivedAt }: Push): Violation[] {
  const now = epochMillis(receivedAt);
  const isAhead = (flow: Flow | undefined) =>
    flow !== undefined && epochMillis(flow.updatedAt) > now + MAX_HOURS_AHEAD * 3_600_000;
  return DIRECTIONS.filter((direction) => isAhead(flows[direction])).map((direction) =>
    updatedAtInFuture(`${direction}Flow`, formatInstant(receivedAt)),
  );
}

/**
 * Decision 24: the site exists, every material exists and belongs to the site. Lists every violation. If the site is
 * unknown, no material can belong to it, so the materials only have to exist.
 */
export function catalogViolations(
  { haulerId, siteId, materialIds }: CatalogReference,
  catalog: CatalogFindings,
): Violation[] {
  const isSiteKnown = catalog.hasSite(haulerId, siteId);
  const violations = isSiteKnown ? [] : [unknownRecord('siteId', 'siteExists', 'a site')];
  materialIds.forEach((materialId, i) => {
    const sites = catalog.sitesOf(haulerId, materialId);
    if (sites === undefined) {
      violations.push(unknownMaterial(i));
    } else if (isSiteKnown && !sites.has(siteId)) {
      const path = `materials[${i}].id`;
      const message = `${path} must be the id of a material of the site that siteId names`;
      violations.push({ path, rule: 'materialOfSite', message });
    }
  });
  return violations;
}
