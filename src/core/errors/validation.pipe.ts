import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import {
  type DtoClass,
  fieldPath,
  type FieldPlan,
  fieldPlans,
  notAnObject,
  readerOf,
  violationsOf,
} from '../../contracts/common/fields/field.js';
import { withValidation } from '../../contracts/common/fields/validation.js';
import { isJsonObject, JsonTextCheck } from '../../contracts/common/json.js';
import type { Violation } from '../../contracts/common/violation.js';
import { CreateScaleTicketRequest } from '../../contracts/scale/scale.api.js';
import { invalid } from './app-error.js';
import { ReceivedBody } from './error-body.js';

/** Requests that come in such numbers that the compiled reader of the same decorators reads them. */
const COMPILED: ReadonlySet<unknown> = new Set([CreateScaleTicketRequest]);

/** Names such as `constructor` may be those of a map's entries. Unknown fields are not copied, whatever their name. */
class FieldPipe extends ValidationPipe {
  protected override stripProtoKeys(): void {
    // Nest deletes them from the request.
  }
}

/**
 * Reads every argument that is a DTO, with Nest's own pipe (class-transformer, class-validator): drops unknown fields and reports all
 * violations at once (decisions 4, 5, 11). The text of a body is checked in unknown fields too (decision 8).
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  private readonly plans = new Map<unknown, ReadonlyMap<string, FieldPlan>>();
  private readonly ofBody = this.nestPipe(false);
  private readonly ofQuery = this.nestPipe(true);

  transform(given: unknown, metadata: ArgumentMetadata): unknown {
    const { metatype, type } = metadata;
    const body = given instanceof ReceivedBody ? given : undefined;
    const value = body === undefined ? given : body.value;
    if (metatype === undefined || this.plansOf(metatype).size === 0) return value;
    const text = body?.isDoubtful === true ? new JsonTextCheck().check(value) : undefined;
    if (!isJsonObject(value)) return refuse(text, [notAnObject('')]);
    // Nest's pipe and its libraries go through a value as deep as it is.
    if (COMPILED.has(metatype) || (text !== undefined && text.violations.length > 0)) {
      const violations: Violation[] = [];
      const unknown = { areFound: false };
      const result = readerOf(metatype as DtoClass)(value, '', violations, unknown);
      if (unknown.areFound || violations.length > 0) body?.reportIgnored?.();
      refuse(text, violations);
      return result;
    }
    body?.reportIgnored?.();
    withValidation(metatype as DtoClass);
    return (type === 'query' ? this.ofQuery : this.ofBody).transform(value, metadata);
  }

  private nestPipe(isQuery: boolean): ValidationPipe {
    return new FieldPipe({
      transform: true,
      // Bodies come by a decorator of our own.
      validateCustomDecorators: true,
      transformOptions: { excludeExtraneousValues: true, exposeUnsetFields: false },
      validationError: { target: true, value: true },
      exceptionFactory: (errors) => {
        const violations = this.violations(errors, '');
        return invalid(isQuery ? violations.map((each) => explainRepeated(errors[0]?.target, each)) : violations);
      },
    });
  }

  /** In the words of the fields: class-validator has no path for the entry of a map. */
  private violations(errors: readonly ValidationError[], parent: string): Violation[] {
    return errors.flatMap(({ target, property, value, children = [] }) => {
      const plan = this.plansOf(target?.constructor).get(property);
      if (plan === undefined) throw new Error(`${property} has no field decorator`);
      const path = fieldPath(parent, property);
      const own = violationsOf(plan, path, value);
      if (own.length > 0 || plan.nested === undefined) return own;
      if (!plan.nested.isArray) return this.violations(children, path);
      const faults = new Map(children.map((child) => [child.property, child.children ?? []]));
      return (value as unknown[]).flatMap((element, i) => {
        const at = `${path}[${i}]`;
        return isJsonObject(element) ? this.violations(faults.get(String(i)) ?? [], at) : [notAnObject(at)];
      });
    });
  }

  private plansOf(type: unknown): ReadonlyMap<string, FieldPlan> {
    let plans = this.plans.get(type);
    if (plans === undefined) {
      plans = new Map(typeof type === 'function' ? fieldPlans(type as DtoClass) : []);
      this.plans.set(type, plans);
    }
    return plans;
  }
}

/** Throws `invalid` if there is a violation. */
function refuse(text: JsonTextCheck | undefined, ofFields: readonly Violation[]): void {
  const all = text?.with(ofFields) ?? ofFields;
  if (all.length > 0) throw invalid(all);
}

/** No query parameter is a list, so a list means that the caller sent the parameter more than once. */
function explainRepeated(query: unknown, violation: Violation): Violation {
  const isRepeated = Array.isArray((query as Readonly<Record<string, unknown>>)[violation.path]);
  return isRepeated ? { ...violation, message: `${violation.path} must be sent once` } : violation;
}
