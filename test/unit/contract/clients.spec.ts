import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The fields of each schema of the four documents, with a `?` where one is optional. */
const DOCUMENTED = new Map(
  ['scale', 'account', 'site', 'vision'].flatMap((name) => {
    const { components } = JSON.parse(read(`docs/openapi/${name}.json`)) as {
      components: { schemas: Record<string, Schema> };
    };
    return Object.entries(components.schemas).map(
      ([schema, { properties = {}, required = [] }]) =>
        [schema, Object.keys(properties).map((each) => (required.includes(each) ? each : `${each}?`))] as const,
    );
  }),
);
const schemasNamed = (names: Iterable<string>) => [...names].filter((name) => DOCUMENTED.has(name));
const sorted = (fields: readonly string[] | undefined) => [...(fields ?? [])].sort();

test('the TypeScript client has the fields of the documents, each optional where it is optional there', () => {
  const source = ts.createSourceFile('client.ts', read('clients/typescript/haulbridge.ts'), ts.ScriptTarget.Latest);
  const interfaces = new Map(
    source.statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each] as const),
  );
  const fieldsOf = (name: string): string[] => {
    const declared = interfaces.get(name);
    const bases = (declared?.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression));
    const own = (declared?.members ?? [])
      .filter(ts.isPropertySignature)
      .map(
        ({ name: field, questionToken }) => (field as ts.Identifier).text + (questionToken === undefined ? '' : '?'),
      );
    return [...bases.filter(ts.isIdentifier).flatMap(({ text }) => fieldsOf(text)), ...own];
  };
  const names = schemasNamed(interfaces.keys());
  expect(names.length).toBeGreaterThanOrEqual(18);
  for (const name of names) expect([name, sorted(fieldsOf(name))]).toEqual([name, sorted(DOCUMENTED.get(name))]);
});

test('the Python client has the fields of the documents, each optional where it is optional there', () => {
  const classes = new Map(
    [
      ...read('clients/python/haulbridge.py').matchAll(/^@dataclass\nclass (\w+)(?:\((\w+)\))?:\n((?: .*\n|\n)+)/gm),
    ].map(([, name = '', base, body = '']) => [name, { base, body }] as const),
  );
  const wire = (name = '') => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const fieldsOf = (name: string): string[] => {
    const { base, body = '' } = classes.get(name) ?? {};
    const own = [...body.matchAll(/^ {4}(\w+): (Optional\[)?/gm)].map(
      ([, field = '', optional = '']) => wire(field) + (optional === '' ? '' : '?'),
    );
    return [...(base === undefined ? [] : fieldsOf(base)), ...own];
  };
  const names = schemasNamed(classes.keys());
  expect(names.length).toBeGreaterThanOrEqual(24);
  for (const name of names) expect([name, sorted(fieldsOf(name))]).toEqual([name, sorted(DOCUMENTED.get(name))]);
});
