import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from './read-list.js';

/** How partners refuse a page that they do not have. Another refusal, as 403 or 408, says nothing of the list's end. */
const NO_SUCH_PAGE: readonly (number | undefined)[] = [400, 404, 410, 416, 422];

/**
 * A page as it came; or, where a later one than the first is refused as one past the end, as it had to be answered
 * (decision 43), with a finding: the partner knows no empty pages, or its list has become shorter.
 */
export async function pageOrEnd<T>(
  fetchPage: (page: number) => Promise<ListedPage<T>>,
  number: number,
): Promise<{ page: ListedPage<T>; isEnd: boolean }> {
  try {
    return { page: await fetchPage(number), isEnd: false };
  } catch (error) {
    if (number === 1 || !(error instanceof PartnerFailure) || error.kind !== 'rejected') throw error;
    if (!NO_SUCH_PAGE.includes(error.status)) throw error;
    const reason = `a page past the end must be an empty list, not an answer of status ${error.status}`;
    const findings = [{ path: 'page', reason }];
    return { page: { items: [], received: 0, fingerprints: [], ranges: [], pagination: {}, findings }, isEnd: true };
  }
}
