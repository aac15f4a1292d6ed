import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from './read-list.js';

/** How partners refuse a page that they do not have. Another refusal, as 403 or 408, says nothing of the list's end. */
const NO_SUCH_PAGE: readonly (number | undefined)[] = [400, 404, 410, 416, 422];

/**
 * The page as it had to be answered (decision 43), where `error` says that a later page than the first is one past the
 * end: the partner knows no empty pages, or its list has become shorter. Undefined for any other error.
 */
export function pastTheEnd(page: number, error: unknown): ListedPage<never> | undefined {
  if (page === 1 || !(error instanceof PartnerFailure) || error.kind !== 'rejected') return undefined;
  if (!NO_SUCH_PAGE.includes(error.status)) return undefined;
  const reason = `a page past the end must be an empty list, not an answer of status ${error.status}`;
  const findings = [{ path: 'page', reason }];
  return { items: [], received: 0, fingerprints: [], ranges: [], pagination: {}, findings };
}
