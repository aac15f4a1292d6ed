import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { fieldsOf } from '../contracts/common/fields/field.js';
import { readSecret, SecretInputError } from '../core/text/secret-input.js';

/** The part of a field's OpenAPI schema that the command line reads. */
interface Field {
  readonly description?: string;
  readonly required?: boolean;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly isArray?: boolean;
  readonly default?: string | number | boolean;
}

/** The arguments of a command: the `{id}` of the path, and a file for a route that takes an upload. */
export function argumentsOf({ params, upload }: ApiRoute): { name: string; description: string }[] {
  const kind = upload?.contentType === 'text/csv' ? 'CSV' : 'JSON';
  const file = { name: 'file', description: `${kind} file with the body` };
  return [
    ...fields(params).flatMap(([name, { description = '' }]) => (name === 'id' ? [{ name, description }] : [])),
    ...(upload === undefined ? [] : [file]),
  ];
}

/** The options of a command: one for each field of the query or body, named as the field: `--hauler-id` for `haulerId`. */
export function optionsOf({ params, query, body }: ApiRoute): Option[] {
  const inPath = fields(params).filter(([name]) => name !== 'id');
  const inQuery = fields(query);
  const isPage = ([name]: [string, Field]) => ['page', 'pageSize', 'cursor'].includes(name);
  return [
    ...inPath.map(([name, field]) => optionOf(name, field, false)),
    ...inQuery.filter((each) => !isPage(each)).map(([name, field]) => optionOf(name, field, false)),
    ...inQuery.filter(isPage).map(([name, field]) => optionOf(name, field, false)),
    ...fields(body).map(([name, field]) => optionOf(name, field, true)),
  ];
}

function fields(type: ApiRoute['query']): [string, Field][] {
  return type === undefined ? [] : ([...fieldsOf(type)] as [string, Field][]);
}

function optionOf(name: string, field: Field, inBody: boolean): Option {
  const isSecret = /apikey$/i.test(name);
  const description = [
    field.description?.replaceAll('`', ''),
    field.enum && `: ${field.enum.join(', ')}`,
    isSecret && '; - reads it from standard input, @FILE from a file',
    field.default !== undefined && ` (default: ${field.default})`,
  ];
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const option = new Option(`--${flag} ${placeholderOf(field)}`, description.filter(Boolean).join(''));
  option.makeOptionMandatory(field.required === true);
  if (isSecret) return option.argParser(readSecretOption);
  if (field.isArray === true) return option.argParser(commaSeparated);
  if (field.type === 'array') return option.argParser(appendName);
  return inBody ? option.argParser((text) => jsonValue(text, field)) : option;
}

function placeholderOf({ type, format, enum: values, isArray }: Field): string {
  if (isArray === true) return '<list>';
  if (type === 'array') return '<names...>';
  // A boolean option without a value is true.
  if (type === 'boolean') return '[boolean]';
  if (type === 'integer') return '<number>';
  if (values !== undefined) return '<name>';
  return `<${{ uuid: 'uuid', 'date-time': 'time', uri: 'url' }[format ?? ''] ?? 'text'}>`;
}

/** The fields of the path that are options. */
export const pathOptionsOf = ({ params }: ApiRoute): string[] =>
  fields(params).flatMap(([name]) => (name === 'id' ? [] : [name]));

/** Numbers, booleans and objects of a JSON body. The service refuses any other text, by the name of the field. */
function jsonValue(text: string, { type }: Field): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (type === 'object') return jsonObject(text);
  return text;
}

function jsonObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It must be JSON, such as {"seconds":5}.');
  }
}

export function readSecretOption(text: string): string {
  try {
    return readSecret(text);
  } catch (error) {
    throw error instanceof SecretInputError ? new InvalidArgumentError(error.message) : error;
  }
}

function commaSeparated(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A name may contain a comma; `''` stands for an empty list. */
function appendName(name: string, names: readonly string[] = []): readonly string[] {
  return name === '' ? names : [...names, name];
}

/** A sentence of the service with the names of the command: `--hauler-id` for `haulerId`, `<id>` for an argument. */
export function inCommandWords(sentence: string, command: Command): string {
  const names = new Map([
    ...command.registeredArguments.map((argument) => [argument.name(), `<${argument.name()}>`] as const),
    ...command.options.map((option) => [option.attributeName(), option.long ?? option.flags] as const),
  ]);
  // A name of one lower-case word is a plain word elsewhere in a sentence.
  return sentence.replace(/^[a-z]+\b|\b[a-z]+[A-Z][A-Za-z]*\b/g, (word) => names.get(word) ?? word);
}
