import { ADMIN_ROUTES, type AdminRouteName } from '../../src/contracts/admin/admin.api.js';
import { csvColumns, csvFormOf } from '../../src/contracts/common/csv.js';
import { generatedBlocks, table } from './generated-blocks.js';
import type { Generator } from './generator.js';

const PAGE = 'docs/guides/spreadsheets.md';

/** The columns of every list that is served as CSV. */
export const columns: Generator = () => {
  const names = (Object.keys(ADMIN_ROUTES) as AdminRouteName[]).filter((name) => ADMIN_ROUTES[name].csv !== undefined);
  return { [PAGE]: generatedBlocks(PAGE, names, columnsOf) };
};

function columnsOf(name: string): string {
  const form = csvFormOf(ADMIN_ROUTES[name as AdminRouteName]);
  const rows = form === undefined ? [] : csvColumns(form);
  return table(
    ['column', 'meaning'],
    rows.map((column) => [`\`${column.name}\``, column.description.replaceAll('|', '\\|')]),
  );
}
