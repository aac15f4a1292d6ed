import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsOptional, ValidateBy } from 'class-validator';

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
    ValidateBy({ name: rule.name, validator: { validate: rule.validate, defaultMessage: () => rule.must } }),
    ...more,
  );
}

/** A fault inside a value that is no DTO of its own, such as one entry of a map or one element of a list. */
export interface InnerFault {
  readonly key: string | number;
  readonly must: string;
}

/** Among a rule's class-validator `constraints`: says which of a value's entries are wrong, so that each gets its own path. */
export interface EntryFaults {
  readonly faults: (value: unknown) => InnerFault[];
}

/** A rule of a value's entries, to stand behind that of the value itself. */
export function EntryRule(name: string, faults: EntryFaults['faults']): PropertyDecorator {
  const entries: EntryFaults = { faults };
  const validate = (value: unknown) => faults(value).length === 0;
  return ValidateBy({ name, constraints: [entries], validator: { validate } });
}
