/** An own property of a value that a partner sent, which may be no object; inherited properties are ignored. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
