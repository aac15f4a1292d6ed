import { differences, textOf } from './difference.rules.js';

/** The fields that differ between two values, side by side. */
export function Difference({
  before,
  after,
  titles = ['Before', 'After'],
}: {
  before: unknown;
  after: unknown;
  titles?: readonly [string, string];
}) {
  const rows = differences(before, after);
  if (rows.length === 0) return <p class="hint">Both are the same.</p>;
  return (
    <div class="scroll" role="region" aria-label="Differences" tabIndex={0}>
      <table class="difference">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{titles[0]}</th>
            <th scope="col">{titles[1]}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path}>
              <th scope="row" data-title="Field">
                <code>{row.path === '' ? 'record' : row.path}</code>
              </th>
              <td data-title={titles[0]}>{row.before === undefined ? <Absent /> : <del>{textOf(row.before)}</del>}</td>
              <td data-title={titles[1]}>{row.after === undefined ? <Absent /> : <ins>{textOf(row.after)}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Absent = () => <span class="muted">absent</span>;

/** Members beyond this number are folded at first. */
const OPEN_MEMBERS = 40;

/** JSON whose objects and arrays can be folded. */
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
