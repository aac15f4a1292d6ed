import 'reflect-metadata';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { ApiContract } from '../../../src/contracts/common/api-contract.js';
import { type DtoClass, fieldPlans, readerOf, fieldsOf } from '../../../src/contracts/common/fields/field.js';
import type { Violation } from '../../../src/contracts/common/violation.js';
import { AppError } from '../../../src/core/errors/app-error.js';
import { DtoPipe } from '../../../src/core/errors/validation.pipe.js';
import { ignoredFieldsOf } from '../../../src/core/http/json-body.js';
import fc from '../../support/fast-check.js';

const RUNS = 40;
const CONTRACTS = join(import.meta.dirname, '../../../src/contracts');

const isDto = (type: unknown): type is DtoClass =>
  typeof type === 'function' && fieldPlans(type as DtoClass).length > 0;
const isApi = (value: unknown): value is ApiContract =>
  typeof value === 'object' && value !== null && 'routes' in value;
const nestedOf = (type: DtoClass): DtoClass[] =>
  fieldPlans(type).flatMap(([, { nested }]) => (nested === undefined ? [] : [nested.type]));

/** What requests carry; and the answers of partners, which the compiled reader serves too. */
async function classesOfContracts(): Promise<DtoClass[]> {
  const files = globSync('**/*.{api,routes}.ts', { cwd: CONTRACTS }).map((file) =>
    pathToFileURL(join(CONTRACTS, file)),
  );
  const modules = await Promise.all(files.map(({ href }) => import(href) as Promise<Record<string, unknown>>));
  const apis = modules.flatMap((exports) => Object.values(exports)).filter(isApi);
  const found = new Set(
    apis.flatMap(({ name, routes }) =>
      Object.values(routes).flatMap(({ body, query, params, upload, response }) => [
        ...[body, query, params, upload?.schema],
        ...(name === 'site' || name === 'vision' ? [response] : []),
      ]),
    ),
  );
  for (const type of found) if (isDto(type)) nestedOf(type).forEach((inner) => found.add(inner));
  return [...found].filter(isDto);
}

const DTOS = await classesOfContracts();

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

/** Half of them mostly as the documents show, so that many are valid as a whole; in the others many fields are wrong. */
const valuesOf = (type: DtoClass): fc.Arbitrary<object> => fc.oneof(objectsOf(type, 12), objectsOf(type, 2));

/** Of `usually` plus three fields, three are unusual. */
function objectsOf(type: DtoClass, usually: number): fc.Arbitrary<object> {
  const fields = fieldPlans(type).map(([name, { nested }]) => {
    const inner = nested === undefined ? fc.array(SCALARS, { maxLength: 3 }) : objectsOf(nested.type, usually);
    const several = fc.array(fc.oneof({ weight: 5, arbitrary: inner }, SCALARS), { maxLength: 3 });
    const usual = nested === undefined ? fc.constant(exampleOf(type, name)) : nested.isArray ? several : inner;
    const others = fc.oneof(
      SCALARS,
      inner,
      several,
      fc.dictionary(fc.oneof(fc.string(), fc.constant('constructor')), SCALARS, { maxKeys: 3, ...PLAIN }),
    );
    const arbitrary = fc.oneof({ weight: usually, arbitrary: usual }, fc.constant(null), {
      weight: 2,
      arbitrary: others,
    });
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

/** By class-transformer and class-validator alone: no reader was compiled for a subclass, which inherits all fields. */
async function validated(type: DtoClass, value: unknown): Promise<Reading> {
  try {
    const metatype = class extends type {};
    const result = (await pipe.transform(value, { type: 'body', metatype })) as object;
    return { result: Object.assign(new type(), result), violations: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { violations: (error.details as { violations: Violation[] }).violations };
  }
}

/** Sorted: class-validator checks inherited fields last. */
const rulesOf = ({ violations }: Reading) => violations.map(({ path, rule }) => `${path} ${rule}`).sort();

describe('a DTO class has the same result', () => {
  it.each(DTOS.map((type) => [type.name, type] as const))('compiled and by its libraries: %s', async (_name, type) => {
    await fc.assert(
      fc.asyncProperty(valuesOf(type), async (value) => {
        const expected = compiled(type, structuredClone(value));
        const read = await validated(type, value);
        expect(rulesOf(read)).toEqual(rulesOf(expected));
        expect(read.result).toStrictEqual(expected.result);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(DTOS.map((type) => [type.name, type] as const))(
    'and the same unknown fields, compiled and by its names: %s',
    (_name, type) => {
      fc.assert(
        fc.property(valuesOf(type), (value) => {
          const violations: Violation[] = [];
          const unknown = { areFound: false };
          readerOf(type)(value, '', violations, unknown);
          if (violations.length === 0) expect(unknown.areFound).toBe(ignoredFieldsOf(type, value).length > 0);
        }),
        { numRuns: RUNS },
      );
    },
  );

  it('is compared for tickets, accounts, the records of partners and the requests of the admin API', () => {
    const names = DTOS.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['CreateScaleTicketRequest', 'MaterialItem', 'FlowData', 'CreateAccountRequest'],
        ...['Site', 'Kiosk', 'Material', 'Video', 'Recording', 'CreateConnectionRequest', 'ListVideosQuery'],
      ]),
    );
  });
});
