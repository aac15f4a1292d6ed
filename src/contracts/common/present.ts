import { type DtoClass, fieldsOf, type FieldSchema } from './fields/field.js';
import { formatInstant } from './instant.js';

interface PresentedField {
  readonly name: string;
  /** Its name in snake case. */
  readonly column: string;
  readonly isNullable: boolean;
  readonly isInteger: boolean;
}

const compiled = new Map<DtoClass, readonly PresentedField[]>();

/**
 * The answer of a class from a row: each documented field has the value of its name in `row`, or else of the column in snake case. Times
 * become instants, integers that PostgreSQL sends as text numbers; null is absent where the field is not nullable. What is in
 * the row beside is left out. What is decided stands before the columns: `present(Hold, { ...row, status })`.
 */
export function present<T extends object>(type: DtoClass<T>, row: object): T {
  const values = row as Readonly<Record<string, unknown>>;
  const answer: Record<string, unknown> = {};
  for (const { name, column, isNullable, isInteger } of fieldsIn(type)) {
    const value = Object.hasOwn(values, name) ? values[name] : values[column];
    if (value === null || value === undefined) {
      if (isNullable) answer[name] = null;
    } else if (value instanceof Date) answer[name] = formatInstant(value);
    else answer[name] = isInteger && typeof value === 'string' ? Number(value) : value;
  }
  return answer as T;
}

function fieldsIn(type: DtoClass): readonly PresentedField[] {
  let fields = compiled.get(type);
  if (fields === undefined) {
    fields = [...fieldsOf(type)].map(([name, schema]) => presented(name, schema));
    compiled.set(type, fields);
  }
  return fields;
}

const presented = (name: string, schema: FieldSchema): PresentedField => ({
  name,
  column: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  isNullable: schema.nullable === true,
  isInteger: schema.type === 'integer',
});
