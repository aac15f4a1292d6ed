import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { type DtoClass, type Read, readerOf } from '../contracts/common/reader.js';
import type { Violation } from '../contracts/common/violation.js';
import { invalid } from './app-error.js';

/**
 * Holds every argument that is a DTO to its class: unknown fields are dropped, all violations are told at once
 * (decisions 4, 5, 11).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly reads = new Map<unknown, Read<object> | undefined>();

  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const read = this.readFor(metatype);
    if (read === undefined) return value;
    const violations: Violation[] = [];
    const result = read(value, '', violations);
    if (violations.length > 0) throw invalid(violations);
    return result;
  }

  private readFor(metatype: ArgumentMetadata['metatype']): Read<object> | undefined {
    if (!this.reads.has(metatype)) this.reads.set(metatype, isDto(metatype) ? readerOf(metatype) : undefined);
    return this.reads.get(metatype);
  }
}

function isDto(metatype: ArgumentMetadata['metatype']): metatype is DtoClass<object> {
  return (
    metatype !== undefined && getMetadataStorage().getTargetValidationMetadatas(metatype, '', true, false).length > 0
  );
}
