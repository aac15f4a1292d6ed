import type { AccountImport } from '../contracts/admin/account-import.dto.js';
import { visibleText } from '../core/text/visible-text.js';
import { render } from './output.js';

/** Rows that a person reads on a terminal; `--json` has all that the service lists. */
const SHOWN_ROWS = 50;

/** The counts, and the rows that need a correction. */
export function renderImport({ dryRun, rows, created, exists, conflict, invalid, data }: AccountImport): string {
  const bad = data.filter(({ violations }) => violations !== undefined);
  const shown = bad.slice(0, SHOWN_ROWS).map(({ line, result, accountName, violations = [] }) => ({
    line,
    result,
    account: accountName ?? '-',
    reason: violations.map(({ message }) => message).join('; '),
  }));
  const rest = invalid + conflict - shown.length;
  return [
    shown.length === 0 ? '' : render({ data: shown }, false),
    rest === 0 ? '' : `and ${rest} more: --json lists up to 1,000\n`,
    visibleText(
      `${rows} rows: ${created} ${dryRun ? 'would be created' : 'created'}, ${exists} exist, ${conflict} in conflict, ${invalid} invalid`,
    ),
    '\n',
  ].join('');
}
