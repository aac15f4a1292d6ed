import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { fieldPlans, type Read, readerOf } from '../contracts/common/fields/field.js';
import { JsonTextCheck } from '../contracts/common/json.js';
import type { Violation } from '../contracts/common/violation.js';
import { invalid } from './app-error.js';

/**
 * Reads every argument that is a DTO: drops unknown fields and reports all violations at once (decisions 4, 5, 11). The
 * text of a body is checked in unknown fields too (decision 8).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly reads = new Map<unknown, Read<object> | undefined>();

  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    const read = this.readFor(metatype);
    if (read === undefined) return value;
    const violations: Violation[] = [];
    const result = read(value, '', violations);
    if (type === 'query') {
      if (violations.length > 0) throw invalid(violations.map((violation) => explainRepeated(value, violation)));
      return result;
    }
    const all = type === 'custom' ? new JsonTextCheck().check(value).with(violations) : violations;
    if (all.length > 0) throw invalid(all);
    return result;
  }

  private readFor(metatype: ArgumentMetadata['metatype']): Read<object> | undefined {
    if (!this.reads.has(metatype)) {
      const isDto = metatype !== undefined && fieldPlans(metatype).length > 0;
      this.reads.set(metatype, isDto ? readerOf(metatype) : undefined);
    }
    return this.reads.get(metatype);
  }
}

/** No query parameter is a list, so a list means that the caller sent the parameter more than once. */
function explainRepeated(query: unknown, violation: Violation): Violation {
  const isRepeated = Array.isArray((query as Readonly<Record<string, unknown>>)[violation.path]);
  return isRepeated ? { ...violation, message: `${violation.path} must be sent once` } : violation;
}
