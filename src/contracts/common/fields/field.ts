import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsOptional, ValidateBy } from 'class-validator';
import { isStorableText, STORABLE_TEXT } from '../text.js';

/**
 * The decorators of a DTO's fields. Each is the field's one definition: it validates (class-validator), converts
 * (class-transformer) and documents (OpenAPI). `null` counts as absent where a field is optional (decision 5).
 */
export interface FieldOptions {
  readonly description: string;
  readonly example?: unknown;
  readonly optional?: boolean;
  /** In answers: always there, and `null` where there is nothing to tell. */
  readonly nullable?: boolean;
}

/** Told where only the size of the whole body bounds a field. */
export const DOCUMENTED_MAX = 1_048_576;

export interface Rule {
  readonly name: string;
  readonly validate: (value: unknown) => boolean;
  /** What follows the field's path in a violation's sentence. */
  readonly must: string;
  /** A string with U+0000 or a lone surrogate is told as such, and not as `must` says: its length may well be right. */
  readonly isOfText?: boolean;
}

/** A fault of a value, or of what is in it where that is no DTO of its own: one entry of a map, one element of a list. */
export interface InnerFault {
  readonly key?: string | number;
  /** Absent: that of the rule which was broken. */
  readonly rule?: string;
  readonly must: string;
}

/** Among a rule's class-validator `constraints`: says what is wrong with a value that has broken it. */
export interface Faults {
  readonly faults: (value: unknown) => InnerFault[];
}

export function field(
  options: FieldOptions,
  schema: ApiPropertyOptions,
  rule: Rule,
  ...more: PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      ...schema,
      description: options.description,
      required: options.optional !== true,
      ...(options.example === undefined ? {} : { example: options.example }),
      ...(options.nullable === true ? { nullable: true } : {}),
    } as ApiPropertyOptions),
    ...(options.optional === true ? [IsOptional()] : []),
    ruled(rule),
    ...more,
  );
}

/** Holds a value to a rule. */
const ruled = (rule: Rule): PropertyDecorator =>
  validatedBy(rule.name, rule.validate, (value) => [faultOf(rule, value)]);

/** Holds what is in a value to a rule, each under its own path; to stand behind the rule of the value itself. */
export const entriesRuled = (name: string, faults: Faults['faults']): PropertyDecorator =>
  validatedBy(name, (value) => faults(value).length === 0, faults);

function validatedBy(name: string, validate: Rule['validate'], faults: Faults['faults']): PropertyDecorator {
  return ValidateBy({ name, constraints: [{ faults }], validator: { validate } });
}

/** Why a value has broken a rule. */
export const faultOf = ({ must, isOfText }: Pick<Rule, 'must' | 'isOfText'>, value: unknown): InnerFault =>
  isOfText === true && typeof value === 'string' && !isStorableText(value)
    ? { rule: 'isText', must: `must be ${STORABLE_TEXT}` }
    : { must };
