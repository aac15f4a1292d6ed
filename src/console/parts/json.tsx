/** A line is broken behind the parts of a long path. */
export const FieldPath = ({ of }: { of: string }) => (
  <code class="field-path">
    {of.split(/(?=[.[])/).flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]))}
  </code>
);

export const Before = ({ value }: { value: unknown }) => (value === undefined ? <Absent /> : <del>{shown(value)}</del>);
export const After = ({ value }: { value: unknown }) => (value === undefined ? <Absent /> : <ins>{shown(value)}</ins>);

const Absent = () => <span class="muted">absent</span>;

/** Text as it is, the members of an object as `name: value`, and other values as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`)
    .join(', ');
}

/** A value as indented JSON. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <pre class="json" role="region" aria-label={label} tabIndex={0}>
    {JSON.stringify(value, null, 2)}
  </pre>
);
