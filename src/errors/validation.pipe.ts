import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import type { JsonRead } from '../contracts/common/json.js';
import { type DtoClass, type Read, readerOf } from '../contracts/common/reader.js';
import { allViolations } from '../contracts/common/told-faults.js';
import type { Violation } from '../contracts/common/violation.js';
import { invalid } from './app-error.js';

/** A body whose very text has faults, for the validation pipe: nobody else may see it. */
export class FaultyBody {
  constructor(readonly read: JsonRead) {}
}

/**
 * Holds every argument that is a DTO to its class: unknown fields are dropped, all violations are told at once
 * (decisions 4, 5, 11).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly reads = new Map<unknown, Read<object> | undefined>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    const read = this.readFor(metatype);
    const violations: Violation[] = [];
    if (value instanceof FaultyBody) {
      read?.(value.read.value, '', violations);
      throw invalid(allViolations(value.read, violations));
    }
    if (read === undefined) return value;
    const result = read(value, '', violations);
    if (violations.length > 0) throw invalid(type === 'query' ? violations.map(repeatedIn(value)) : violations);
    return result;
  }

  private readFor(metatype: ArgumentMetadata['metatype']): Read<object> | undefined {
    if (!this.reads.has(metatype)) this.reads.set(metatype, isDto(metatype) ? readerOf(metatype) : undefined);
    return this.reads.get(metatype);
  }
}

/** No query of ours takes a list: one is read where a parameter was sent more than once, and then that is its fault. */
function repeatedIn(query: unknown): (violation: Violation) => Violation {
  return (violation) => {
    const isRepeated = Array.isArray((query as Readonly<Record<string, unknown>>)[violation.path]);
    return isRepeated ? { ...violation, message: `${violation.path} must be sent once` } : violation;
  };
}

function isDto(metatype: ArgumentMetadata['metatype']): metatype is DtoClass<object> {
  return (
    metatype !== undefined && getMetadataStorage().getTargetValidationMetadatas(metatype, '', true, false).length > 0
  );
}
