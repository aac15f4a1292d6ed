/** What a command answers, as text: JSON as the admin API writes it, or for people. */
export function render(answer: unknown, asJson: boolean): string {
  if (answer === undefined) return '';
  if (asJson) return `${JSON.stringify(answer, undefined, 2)}\n`;
  if (isList(answer)) return renderList(answer);
  return renderFields(answer as object);
}

interface Listed {
  readonly data: readonly object[];
  readonly pagination?: { readonly page: number; readonly totalPages: number; readonly totalItems: number };
}

function isList(answer: unknown): answer is Listed {
  return typeof answer === 'object' && answer !== null && 'data' in answer && Array.isArray(answer.data);
}

function renderFields(answer: object): string {
  const entries = Object.entries(answer);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}\n`).join('');
}

function renderList({ data, pagination }: Listed): string {
  // What one row leaves out, another may have.
  const columns = [...new Set(data.flatMap((row) => Object.keys(row)))];
  const table = columns.length === 0 ? '' : renderTable(columns, data);
  if (pagination === undefined) return table;
  const { page, totalPages, totalItems } = pagination;
  return `${table}${totalItems} in all, page ${page} of ${Math.max(totalPages, 1)}\n`;
}

function renderTable(columns: readonly string[], data: readonly object[]): string {
  const rows = [columns, ...data.map((row) => columns.map((name) => shown((row as Record<string, unknown>)[name])))];
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(shown).join(',');
  // A name may hold line ends and control characters, which belong to nobody's terminal; JSON escapes but half of them.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\p{Cc}/gu, ' ');
}
