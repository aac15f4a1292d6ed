/** `JSON` as the engine has it; the compiler's library does not know this part of it yet. */
interface ExactJson {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

const EXACT = JSON as unknown as ExactJson;

/** What a JSON text says, to be written as JSON again: its numbers stay digit by digit what they are, 1e309 and -0 included. */
export const exactValue = (text: string): unknown =>
  EXACT.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? EXACT.rawJSON(source) : value,
  );
