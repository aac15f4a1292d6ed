import { type Difference as Differing, differences } from '../../contracts/common/difference.values.js';
import { joinPath } from '../../contracts/common/path.values.js';
import { Table } from './listing.js';

interface DifferenceProps {
  readonly before: unknown;
  readonly after: unknown;
  readonly titles?: readonly [string, string];
}

/** The fields that differ between two values, side by side. */
export function Difference({ before, after, titles = ['Before', 'After'] }: DifferenceProps) {
  const rows = differences(before, after).map((each, index) => ({ ...each, index }));
  if (rows.length === 0) return <p class="hint">Both are the same.</p>;
  const columns = [
    { title: 'Field', cell: ({ path }: Differing) => <FieldPath of={path.reduce<string>(joinPath, '') || 'record'} /> },
    { title: titles[0], cell: (row: Differing) => <Before value={row.before} /> },
    { title: titles[1], cell: (row: Differing) => <After value={row.after} /> },
  ];
  return <Table label="Differences" rows={rows} columns={columns} keyOf={({ index }) => String(index)} />;
}

/** A line is broken behind the parts of a long path. */
export const FieldPath = ({ of }: { of: string }) => (
  <code class="field-path" translate={false}>
    {of.split(/(?=[.[])/).flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]))}
  </code>
);

interface ValueProps {
  readonly value: unknown;
}

export const Before = ({ value }: ValueProps) => (value === undefined ? <Absent /> : <del>{shown(value)}</del>);
export const After = ({ value }: ValueProps) => (value === undefined ? <Absent /> : <ins>{shown(value)}</ins>);

const Absent = () => <span class="muted">absent</span>;

/** Text as it is, the members of an object as `name: value`, and other values as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`)
    .join(', ');
}

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
