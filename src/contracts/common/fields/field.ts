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
