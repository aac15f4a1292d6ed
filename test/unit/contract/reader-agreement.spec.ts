import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ADMIN_ROUTES } from '../../../src/contracts/admin/admin.api.js';
import type { ApiRoute } from '../../../src/contracts/common/api-contract.js';
import { CreateAccountRequest } from '../../../src/contracts/account/account.dto.js';
import { fieldsOf } from '../../../src/contracts/common/fields/documented.js';
import { type DtoClass, fieldPlans, readerOf } from '../../../src/contracts/common/fields/field.js';
import type { Violation } from '../../../src/contracts/common/violation.js';
import { Kiosk, Material, Site } from '../../../src/contracts/site/site.dto.js';
import * as vision from '../../../src/contracts/vision/vision.dto.js';
import { AppError } from '../../../src/errors/app-error.js';
import { DtoPipe } from '../../../src/errors/validation.pipe.js';

const RUNS = 60;

const routes = Object.values<ApiRoute>(ADMIN_ROUTES);
const isDto = (type: unknown): type is DtoClass =>
  typeof type === 'function' && fieldPlans(type as DtoClass).length > 0;
const DTOS = [
  ...new Set([
    ...routes.flatMap(({ body, query, params }) => [body, query, params]).filter(isDto),
    ...[CreateAccountRequest, Site, Kiosk, Material],
    ...Object.values(vision).filter(isDto),
  ]),
];

/** Values that some fields accept, and others that none does. */
const SCALARS = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      '7B0A3A52-6e0d-4e0e-9d61-0d1c1f3f8a21',
      '2026-01-31T10:30:00.5+02:00',
      '2026-01-31T10:30:00 02:00',
      'https://a.example',
    ],
    ...[
      '1',
      '0',
      '2.5',
      'true',
      'false',
      '',
      ' ',
      'a',
      'a@b.example',
      'site',
      'stored',
      'TX',
      '78701',
      'x'.repeat(300),
      '\0',
      '\ud800',
    ],
    ...[null, true, false, 0, 1, -1, 60, 2.5, 1e300],
  ),
  fc.string(),
);

/** As parsed JSON: no object without a prototype. */
const PLAIN = { noNullPrototype: true } as const;

const exampleOf = (type: DtoClass, name: string): unknown => fieldsOf(type).get(name)?.example;

/** Mostly what the documents show, so that many values are valid as a whole. */
function valuesOf(type: DtoClass): fc.Arbitrary<object> {
  const fields = fieldPlans(type).map(([name, { nested }]) => {
    const inner = nested === undefined ? fc.array(SCALARS, { maxLength: 3 }) : valuesOf(nested.type());
    const several = fc.array(fc.oneof({ weight: 5, arbitrary: inner }, SCALARS), { maxLength: 3 });
    const usual = nested === undefined ? fc.constant(exampleOf(type, name)) : nested.isArray ? several : inner;
    const others = fc.oneof(
      SCALARS,
      inner,
      several,
      fc.dictionary(fc.oneof(fc.string(), fc.constant('constructor')), SCALARS, { maxKeys: 3, ...PLAIN }),
    );
    const arbitrary = fc.oneof({ weight: 12, arbitrary: usual }, { weight: 2, arbitrary: fc.constant(null) }, others);
    return [name, arbitrary] as const;
  });
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: [], ...PLAIN });
  return fc
    .tuple(known, fc.dictionary(fc.constantFrom('extra', 'toString', 'constructor'), SCALARS, PLAIN))
    .map(([a, b]) => ({ ...b, ...a }));
}

interface Reading {
  readonly result?: object;
  readonly violations: readonly Violation[];
}

function compiled(type: DtoClass, value: unknown): Reading {
  const violations: Violation[] = [];
  const result = readerOf(type)(value, '', violations);
  return violations.length > 0 ? { violations } : { result, violations };
}

const pipe = new DtoPipe();

/** By class-transformer and class-validator, in Nest's pipe. */
async function validated(metatype: DtoClass, value: unknown): Promise<Reading> {
  try {
    return { result: (await pipe.transform(value, { type: 'body', metatype })) as object, violations: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { violations: (error.details as { violations: Violation[] }).violations };
  }
}

describe('a DTO class has the same result', () => {
  it.each(DTOS.map((type) => [type.name, type] as const))('compiled and by its libraries: %s', async (_name, type) => {
    await fc.assert(
      fc.asyncProperty(valuesOf(type), async (value) => {
        const expected = compiled(type, structuredClone(value));
        const read = await validated(type, value);
        expect(read.violations.map(({ path, rule }) => [path, rule])).toEqual(
          expected.violations.map(({ path, rule }) => [path, rule]),
        );
        expect(read.result).toStrictEqual(expected.result);
      }),
      { numRuns: RUNS },
    );
  });

  it('is compared for every DTO of a request', () => expect(DTOS.length).toBeGreaterThan(40));
});
