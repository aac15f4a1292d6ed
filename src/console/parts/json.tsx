import { type FieldDifference, differences, textOf } from './difference.rules.js';
import { Table } from './listing.js';

interface DifferenceProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly titles?: readonly [string, string];
}

/** The fields that differ between two values, side by side. */
export function Difference({ before, after, titles = ['Before', 'After'] }: DifferenceProps) {
  const rows = differences(before, after);
  if (rows.length === 0) return <p class="hint">Both are the same.</p>;
  const columns = [
    {
      title: 'Field',
      cell: ({ path }: FieldDifference) => <code class="field-path">{path === '' ? 'record' : path}</code>,
    },
    {
      title: titles[0],
      cell: (row: FieldDifference) => (row.before === undefined ? <Absent /> : <del>{textOf(row.before)}</del>),
    },
    {
      title: titles[1],
      cell: (row: FieldDifference) => (row.after === undefined ? <Absent /> : <ins>{textOf(row.after)}</ins>),
    },
  ];
  return <Table label="Differences" rows={rows} columns={columns} keyOf={({ path }) => path} />;
}

const Absent = () => <span class="muted">absent</span>;

/** A value with more members than this is folded at first. */
const OPEN_MEMBERS = 40;

/** JSON with objects and arrays that can be folded. */
export function Json({ value, label }: { value: unknown; label?: string }) {
  return (
    <div class="json" role="region" aria-label={label ?? 'JSON'} tabIndex={0}>
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const prefix = name === undefined ? null : <span class="json-name">{JSON.stringify(name)}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-line">
        {prefix}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value) ?? 'absent'}</span>
      </div>
    );
  }
  const members = Object.entries(value as Readonly<Record<string, unknown>>);
  const [start, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) {
    return (
      <div class="json-line">
        {prefix}
        {start + end}
      </div>
    );
  }
  return (
    <details open={depth < 3 && members.length <= OPEN_MEMBERS}>
      <summary>
        {prefix}
        {start}
        <span class="muted"> {members.length} </span>
        {end}
      </summary>
      {members.map(([key, member]) => (
        <Node key={key} {...(Array.isArray(value) ? {} : { name: key })} value={member} depth={depth + 1} />
      ))}
    </details>
  );
}
