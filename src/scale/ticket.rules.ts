import type { Instant } from '../contracts/common/instant.js';
import type { Violation } from '../contracts/common/violation.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import type { TicketResult } from '../contracts/scale/ticket-result.js';
import { type AppError, violated } from '../errors/app-error.js';
import type { CatalogFindings, CatalogReference } from '../site-sync/catalog/catalog.repository.js';
import type { Contents, Flow, Flows, Push, Ticket } from './ticket.js';

/** The tickets that a push matches, each through one of its flows (decision 20). */
export interface Matches {
  readonly inbound?: Ticket | undefined;
  readonly outbound?: Ticket | undefined;
}

export interface Applied {
  readonly result: TicketResult;
  readonly ticket: Ticket;
}

/** Returns the ticket after the push, or `conflict` if its two flows match two different tickets (decision 20). */
export function applyPush({ inbound, outbound }: Matches, push: Push): Applied | 'conflict' {
  if (inbound !== undefined && outbound !== undefined && inbound.id !== outbound.id) return 'conflict';
  const stored = inbound ?? outbound;
  return stored === undefined ? create(push) : update(stored, push);
}

/** The 422 of such a conflict. */
export function flowConflict(): AppError {
  const violations = ['inboundFlow.ticketNumber', 'outboundFlow.ticketNumber'].map((path) => ({
    path,
    rule: 'flowConflict',
    message: `${path} belongs to another ticket than the other flow's`,
  }));
  return violated(SCALE_API, 'ruleViolated', violations, { details: { reason: 'FLOW_CONFLICT' } });
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
  const violations = isSiteKnown ? [] : [violation('siteId', 'siteExists', `must be ${known('a site')}`)];
  materialIds.forEach((materialId, i) => {
    const path = `materials[${i}].id`;
    const sites = catalog.sitesOf(haulerId, materialId);
    if (sites === undefined) {
      violations.push(violation(path, 'materialExists', `must be ${known('a material')}`));
    } else if (isSiteKnown && !sites.has(siteId)) {
      violations.push(violation(path, 'materialOfSite', 'must be the id of a material of the site that siteId names'));
    }
  });
  return violations;
}

/** In full, because partners send our ids instead, or ids of records that were never synchronised. */
const known = (what: string) => `the id, in your own system, of ${what} that the platform has received by the Site API`;

function violation(path: string, rule: string, must: string): Violation {
  return { path, rule, message: `${path} ${must}` };
}

function create(push: Push): Applied {
  const { id, haulerId, siteId, flows, contents, receivedAt } = push;
  const times = { createdAt: receivedAt, updatedAt: receivedAt };
  const ticket = { id, haulerId, siteId, revision: 1, version: versionOf(flows), flows, contents, ...times };
  return { result: 'created', ticket };
}

/**
 * The contents and each flow are separate registers. The newest push wins each of them, so the order of arrival does not
 * matter (decision 21). A push without any newer part is still kept in the history.
 */
function update(stored: Ticket, push: Push): Applied {
  if (isUnchanged(stored, push)) return { result: 'unchanged', ticket: stored };
  const version = versionOf(push.flows);
  const isApplied = stored.version === null || (version !== null && version >= stored.version);
  const flows: Flows = {
    inbound: newest(stored.flows.inbound, push.flows.inbound),
    outbound: newest(stored.flows.outbound, push.flows.outbound),
  };
  const hasNewFlow = flows.inbound !== stored.flows.inbound || flows.outbound !== stored.flows.outbound;
  const ticket = {
    ...stored,
    ...(isApplied ? { version, contents: push.contents } : {}),
    ...(isApplied || hasNewFlow ? { updatedAt: push.receivedAt } : {}),
    flows,
    revision: stored.revision + 1,
  };
  return { result: isApplied ? 'updated' : 'stale', ticket };
}

/** A push's version is the newest `updatedAt` of its flows (decision 21). */
function versionOf({ inbound, outbound }: Flows): Instant | null {
  if (inbound === undefined || outbound === undefined) return (inbound ?? outbound)?.updatedAt ?? null;
  return inbound.updatedAt > outbound.updatedAt ? inbound.updatedAt : outbound.updatedAt;
}

/** A flow that the push does not have stays. Of two equally new ones the later arrival wins (decision 21). */
function newest(stored: Flow | undefined, pushed: Flow | undefined): Flow | undefined {
  if (stored === undefined || pushed === undefined) return pushed ?? stored;
  return pushed.updatedAt >= stored.updatedAt && !isSameFlow(stored, pushed) ? pushed : stored;
}

function isUnchanged(stored: Ticket, { contents, flows }: Push): boolean {
  return (
    isSameContents(stored.contents, contents) &&
    hasFlow(stored.flows.inbound, flows.inbound) &&
    hasFlow(stored.flows.outbound, flows.outbound)
  );
}

function hasFlow(stored: Flow | undefined, pushed: Flow | undefined): boolean {
  return pushed === undefined || (stored !== undefined && isSameFlow(stored, pushed));
}

function isSameFlow(a: Flow, b: Flow): boolean {
  return a.ticketNumber === b.ticketNumber && a.updatedAt === b.updatedAt;
}

function isSameContents(a: Contents, b: Contents): boolean {
  return a.materials === b.materials && a.customFields === b.customFields;
}
