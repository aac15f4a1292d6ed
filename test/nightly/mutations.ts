import fc from 'fast-check';

/** What no field expects. */
const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  5e-324,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udc00x',
  '\u202e',
  '\r\nSet-Cookie: a=b',
  "'; DROP TABLE tickets; --",
  '${jndi:ldap://x}',
  '../../../../etc/passwd',
  '%00%2e%2e%2f',
  'x'.repeat(5_000),
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  'NaN',
  [],
  {},
  [[[[]]]],
  { toString: 'x', constructor: { prototype: 1 } },
  Array.from({ length: 1_100 }, () => 0),
];

const junk = fc.oneof(fc.constantFrom(...JUNK), fc.jsonValue({ maxDepth: 3 }));
const unusualName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'haulerId', 'id', 'disposalTicketId', 'createdAt', '', 'a.b', '\u0000'),
  fc.string(),
);

/** Steps into a value, each a share of what is there: they fit any value. */
type Change = (value: unknown, steps: readonly number[]) => unknown;

const changes: fc.Arbitrary<Change> = fc.oneof(
  junk.map((replacement): Change => at(() => replacement)),
  fc.constant<Change>(at(() => undefined)),
  fc
    .tuple(unusualName, junk)
    .map(([name, extra]): Change =>
      at((value) => (isObject(value) ? withEntry(value, name, extra) : { [name]: value })),
    ),
  fc.constant<Change>(at((value) => [value, value])),
  fc.constant<Change>(at((value) => JSON.stringify(value) ?? '')),
  fc.integer({ min: 2, max: 60 }).map((depth): Change => at((value) => nested(value, depth))),
);

/** A value with up to three faults somewhere in it. */
export const mutated = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      arbitrary,
      fc.array(fc.tuple(changes, fc.array(fc.nat(7), { maxLength: 4 })), { minLength: 1, maxLength: 3 }),
    )
    .map(([value, faults]) => faults.reduce((changed, [change, steps]) => change(changed, steps), value));

/** The text of a value, whole or with faults in its bytes. */
export const bytesOf = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(arbitrary, fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 3 }))
    .map(([value, faults]) => {
      const bytes = Buffer.from(JSON.stringify(value) ?? '');
      for (const [place, byte] of faults) if (bytes.length > 0) bytes[Math.floor(place * (bytes.length - 1))] = byte;
      return bytes;
    });

/** Values of a header that HTTP lets through. */
export const headerText = fc.oneof(
  fc.constantFrom('', 'x', 'a b', 'application/json; charset=latin1', '"', 'x'.repeat(300), 'gzip', '\xff'),
  fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
);

function at(change: (value: unknown) => unknown): Change {
  const into = (value: unknown, steps: readonly number[]): unknown => {
    const [step, ...rest] = steps;
    if (step === undefined || typeof value !== 'object' || value === null) return change(value);
    const keys = Object.keys(value);
    const key = keys[step % Math.max(keys.length, 1)];
    if (key === undefined) return change(value);
    const inner = into((value as Record<string, unknown>)[key], rest);
    if (Array.isArray(value)) return value.map((element: unknown, i) => (String(i) === key ? inner : element));
    return withEntry(value, key, inner);
  };
  return into;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By definition and not by assignment: `__proto__` must stand in the text like any other name. */
function withEntry(value: object, name: string, entry: unknown): object {
  return Object.defineProperty({ ...value }, name, { value: entry, enumerable: true, configurable: true });
}

function nested(value: unknown, depth: number): unknown {
  return depth === 0 ? value : [nested(value, depth - 1)];
}
