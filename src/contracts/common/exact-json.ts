/** What TypeScript's library does not declare yet of `JSON` (Node.js 22 and later have it). */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

const exact = JSON as unknown as ExactJson;

/**
 * Reads JSON so that `JSON.stringify` writes every number as it stood there: 1e309, -0 and more digits than a double
 * has come out as they went in (decision 25). Such a number is no `number` in between: this is for passing on only.
 */
export function readExactly(text: string): unknown {
  const withoutMark = text.startsWith('\ufeff') ? text.slice(1) : text;
  return exact.parse(withoutMark, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exact.rawJSON(source) : value,
  );
}
