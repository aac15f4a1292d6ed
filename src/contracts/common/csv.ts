import type { RouteDefinition } from './api-contract.js';
import { type DtoClass, type FieldSchema, fieldsOf } from './fields/field.js';

/** The media types of a whole list, beside its pages of JSON. */
export const CSV_TYPE = 'text/csv';
/** One element a line, as the pages have it. */
export const NDJSON_TYPE = 'application/x-ndjson';

/** The form of a list as CSV: its columns follow from the classes of its elements. */
export interface CsvForm {
  /** Classes of the elements. An element has the columns of one of them; the others stay empty. */
  readonly elements: readonly DtoClass[];
  /** The field of the elements whose entries have a row each. */
  readonly each?: string;
}

/** The CSV of a route: its elements are those of its response. Undefined if it has none. */
export function csvFormOf({ csv, response, variants }: RouteDefinition): CsvForm | undefined {
  if (csv === undefined || response === undefined) return undefined;
  const element = classOf(fieldsOf(response).get('data') ?? {});
  return { elements: variants ?? (element === undefined ? [] : [element]), ...(csv === true ? {} : csv) };
}

interface CsvColumn {
  /** The path of the field, `billingAddress.city`. */
  readonly name: string;
  readonly description: string;
}

/** The parameter of a CSV that puts a byte order mark before it. */
export const BOM_PARAMETER = 'bom';

/** Every field is a column, and so is every field of an object in it. A list or a map is one column with its JSON. */
export function csvColumns({ elements, each }: CsvForm): CsvColumn[] {
  const columns = new Map<string, CsvColumn>();
  for (const element of elements) for (const column of columnsOf(element, '', each)) columns.set(column.name, column);
  return [...columns.values()];
}

function columnsOf(type: DtoClass, prefix: string, each: string | undefined): CsvColumn[] {
  return [...fieldsOf(type)].flatMap(([field, schema]) => {
    const name = `${prefix}${field}`;
    const inner = isList(schema) && name !== each ? undefined : classOf(schema);
    return inner === undefined
      ? [{ name, description: schema.description ?? '' }]
      : columnsOf(inner, `${name}.`, undefined);
  });
}

const isList = (schema: FieldSchema): boolean => 'isArray' in schema && schema.isArray === true;

/** A lazy type is an arrow function, which has no prototype. */
function classOf({ type }: FieldSchema): DtoClass | undefined {
  if (typeof type !== 'function') return undefined;
  const found = (type.prototype === undefined ? (type as () => DtoClass)() : type) as DtoClass;
  return fieldsOf(found).size === 0 ? undefined : found;
}
