import { isJsonObject } from '../../contracts/common/json.js';
import { type DtoClass, readerOf } from '../../contracts/common/fields/field.js';
import type { Violation } from '../../contracts/common/violation.js';
import { shown } from '../checks.js';
import { notApplicable } from '../rule.js';
import { callsOf, type ClientRule, everyCall, everyCallOf, jsonOf } from './client-rule.js';

type Assertion = Pick<ClientRule, 'title' | 'remedy' | 'check'>;

export interface FieldRule extends ClientRule {
  readonly field: string;
}

const fieldOf = (path: string) => path.replace(/\[\d+\]/g, '[]');

/** A field of a body, such as `materials[].quantity`. The violations come from the reader of the contract. */
export function fieldOfBody(
  operation: string,
  type: DtoClass<object>,
  { field, form, isOptional }: { readonly field: string; readonly form: string; readonly isOptional: boolean },
): Assertion & Pick<FieldRule, 'field'> {
  return {
    field,
    title: `${field} is ${form}${isOptional ? ', or absent' : ''}`,
    remedy: `Send ${field} as ${form}.`,
    check: (log) => {
      const calls = callsOf(log, operation).filter((call) => isJsonObject(jsonOf(call).value));
      if (isOptional && calls.length > 0 && !calls.some((call) => isPresent(jsonOf(call).value, field)))
        return notApplicable(`no call has ${field}`);
      return everyCall(calls, `no call of ${operation} was seen`, (call) => faultOf(type, jsonOf(call).value, field));
    },
  };
}

function faultOf(type: DtoClass<object>, body: unknown, field: string): string | undefined {
  const violations: Violation[] = [];
  readerOf(type)(body, '', violations);
  const own = violations
    .filter(({ path }) => fieldOf(path) === field || (field === 'customFields' && path.startsWith(field)))
    .slice(0, 3);
  return own.length === 0 ? undefined : own.map(({ message }) => message).join('; ');
}

function isPresent(value: unknown, field: string): boolean {
  let values = [value];
  for (const name of field.split('.')) {
    const key = name.replace('[]', '');
    values = values.flatMap((each) => {
      const next = isJsonObject(each) ? each[key] : undefined;
      return name.endsWith('[]') && Array.isArray(next) ? (next as unknown[]) : [next];
    });
  }
  return values.some((each) => each != null);
}

/** An unknown name is probably misspelled. */
export const noOtherFields = (operation: string, rules: readonly FieldRule[]): Assertion => ({
  title: 'the body has no field that the contract does not know',
  remedy: 'Correct the name of the field, or leave it out: the platform ignores it.',
  check: everyCallOf(operation, (call) => {
    const known = rules.flatMap(({ field }) => [field, field.replace('[]', '')]);
    const unknown = unknownFields(jsonOf(call).value, '').filter((field) => !known.includes(field));
    return unknown.length === 0 ? undefined : `unknown: ${shown(unknown.slice(0, 5).join(', '))}`;
  }),
});

function unknownFields(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((each) => unknownFields(each, `${path}[]`)))];
  if (!isJsonObject(value) || path === 'customFields') return path === '' ? [] : [path];
  const inner = Object.entries(value).flatMap(([name, each]) =>
    unknownFields(each, path === '' ? name : `${path}.${name}`),
  );
  return [...(path === '' || path.endsWith('[]') ? [] : [path]), ...inner];
}
