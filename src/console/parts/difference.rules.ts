export interface FieldDifference {
  /** Such as `materials[2].quantity`; empty for the value itself. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields that differ between two JSON values, in the order in which they occur. An absent field is undefined. */
export function differences(before: unknown, after: unknown, path = ''): FieldDifference[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => differences(before[index], after[index], `${path}[${index}]`)).flat();
  }
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  return before === after || JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

/** A value as text. Text is shown as it is, other values as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
