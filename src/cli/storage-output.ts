import type { StorageCheck, StorageRepair, UnreadPlace } from '../contracts/admin/storage.dto.js';
import { visibleText } from '../core/text/visible-text.js';
import { CommandError, FAILURE } from './command-error.js';
import { render, type Streams } from './output.js';

/** A folder or file of the service, and not of another program. */
const OF_THE_SERVICE = /^[a-z-]+(\/\d{4}-\d{2}-\d{2})?(\/[0-9a-f]{2}(\/[^/]+\.mp4)?)?$/;

/** After the table of the differences. Throws where there is one. */
export function reportDifferences({ examined, data, unread = [], advice }: StorageCheck, { out }: Streams): void {
  if (advice !== undefined) out(`${visibleText(advice)}\n`);
  out(unreadLines(unread));
  refuseDifferences({ data, unread });
  out(`storage and database agree: examined ${examined} rows and files\n`);
}

export function refuseDifferences({ data, unread = [] }: Pick<StorageCheck, 'data' | 'unread'>): void {
  const differences = data.length === 1 ? '1 difference' : `${data.length} differences`;
  const wrong = data.length === 0 ? [] : [`${differences} between storage and database`];
  const missed = unread.filter(({ place }) => OF_THE_SERVICE.test(place));
  if (missed.length > 0)
    wrong.push(`${missed.length} of its places in the storage cannot be read, and were not compared`);
  if (wrong.length > 0) throw new CommandError(wrong.join('; '), FAILURE);
}

/** After the table of the differences and their remedies. */
export function reportRepair(repair: StorageRepair, { out }: Streams): void {
  const { dryRun, unread = [], examined, fetchedAgain, removed, none } = repair;
  const would = dryRun ? 'would be ' : '';
  out(unreadLines(unread));
  out(
    `examined ${examined} rows and files: ${fetchedAgain} recordings ${would}fetched again, ${removed} files ${would}removed, ${none} differences left as they are\n`,
  );
}

const unreadLines = (unread: readonly UnreadPlace[]): string =>
  unread.length === 0
    ? ''
    : `not compared, because it cannot be read:\n${render({ data: unread.map(({ place, reason }) => ({ place, reason })) }, false)}`;
