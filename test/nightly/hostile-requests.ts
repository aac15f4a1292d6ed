import fc from 'fast-check';
import { bytesOf, headerText, mutated } from './mutations.js';
import { Arbitraries, type OpenApiDocument, type Operation } from '../support/openapi-arbitrary.js';

/** Values that make a request pass, by the name of the field or parameter. */
export type Known = Record<string, string[]>;

/** Of four requests one has headers that make no sense. */
const unusualHeaders = fc.dictionary(
  fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Content-Type', 'Content-Encoding', 'Accept', 'If-None-Match'),
  headerText,
  { maxKeys: 2 },
);

/** Valid bodies, valid ones with a fault in a value or in the bytes, and bytes of no meaning; nothing where none is taken. */
export function bodies(document: OpenApiDocument, operation: Operation, known: Known) {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return fc.constant(undefined);
  const valid = new Arbitraries(document, known).of(schema);
  return fc.oneof(
    { weight: 3, arbitrary: valid.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 4, arbitrary: mutated(valid).map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 2, arbitrary: bytesOf(valid) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  );
}

/** Query strings, likewise. */
export function queries(document: OpenApiDocument, operation: Operation, known: Known) {
  const arbitraries = new Arbitraries(document, known);
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const values = fc.record(
    Object.fromEntries(
      parameters.map(({ name, schema, required }) => {
        const value = arbitraries.of(schema, name).map(String);
        return [name, required === true ? value : fc.option(value, { nil: undefined })];
      }),
    ),
  );
  const pairs = (fields: unknown) =>
    Object.entries(fields as object)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`)
      .join('&')
      // More than 16 KiB of headers are refused before any route is asked: see slow-clients and errors.
      .slice(0, 8_000);
  const unusual = fc.constantFrom('%ff=%fe', '[]=1', 'page=1&page=2', '__proto__=1', 'a[b]=c', 'page=%00', '&&&=', 'x');
  return fc.oneof(
    { weight: 3, arbitrary: values.map(pairs) },
    { weight: 3, arbitrary: mutated(values).map((value) => pairs(Object(value))) },
    { weight: 1, arbitrary: fc.tuple(values.map(pairs), unusual).map((both) => both.join('&')) },
  );
}

const wellFormed = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed().slice(0, 3_000);

export const headers = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unusualHeaders });
