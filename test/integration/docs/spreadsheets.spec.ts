import { expect, test } from '@jest/globals';
import { ADMIN_ROUTES, type AdminRouteName } from '../../../src/contracts/admin/admin.api.js';
import { csvColumns } from '../../../src/contracts/common/csv.js';
import { expectGenerated, table } from './generated-blocks.js';

const withCsv = Object.keys(ADMIN_ROUTES).filter((name) => ADMIN_ROUTES[name as AdminRouteName].csv !== undefined);

test('the guide has the columns of every CSV: UPDATE_COLUMNS=1 writes them', () => {
  const { markers, text } = expectGenerated('docs/guides/spreadsheets.md', 'UPDATE_COLUMNS', (name) => {
    const { csv } = ADMIN_ROUTES[name as AdminRouteName];
    const columns = csv === undefined ? [] : csvColumns(csv);
    return table(
      ['column', 'meaning'],
      columns.map(({ name: column, description }) => [`\`${column}\``, description.replaceAll('|', '\\|')]),
    );
  });
  expect([...markers].sort()).toEqual(withCsv.sort());
  for (const name of withCsv) expect(text).toContain(`/admin/v1${ADMIN_ROUTES[name as AdminRouteName].path}\``);
});
