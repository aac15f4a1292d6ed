import 'reflect-metadata';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ROLES } from '../../../src/conformance/roles.js';
import { STATEMENTS } from './statements.js';

/** Sections 2.1 to 9 with statements of their own. */
const SECTIONS = '2.1 2.2 2.3 2.4 2.5 2.4a 2.5a 2.6 3 4 4.1 4.2 4.3 4.4 4.5 4.6 5 6 7 8 9'.split(' ');

/** Fields that we add to the interface document. */
const ADDITIONS = /^listVideos answer data\.(request|videos\[\]\.gaps)\b/;
/** Statuses of the interface document; the others of our documents are additions. */
const STATUSES = ['400', '401', '404', '409', '422', '500'];

const rules = ROLES.flatMap(({ rules: each }) => each);
const ids = rules.map(({ id }) => id).sort();

const statements = STATEMENTS.trim()
  .split('\n')
  .map((line) => {
    const [section = '', field = '', text = '', named = ''] = line.split('|').map((part) => part.trim());
    return { section, field, text, rules: named.split(' ').flatMap(idsOf) };
  });

/** `SITE-010..017` or `SITE-010`; both ends must exist. */
function idsOf(range: string): string[] {
  const [first = '', last] = range.split('..');
  const end = last === undefined ? first : `${first.slice(0, -3)}${last.slice(-3)}`;
  expect(ids).toEqual(expect.arrayContaining([first, end]));
  return ids.filter((id) => id >= first && id <= end && id.startsWith(first.slice(0, -3)));
}

describe('the statements of the interface document', () => {
  test.each(SECTIONS)('of section %s each have a rule', (section) => {
    const own = statements.filter((each) => each.section === section);
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((each) => each.rules.length === 0)).toEqual([]);
  });

  test('name every rule of the list', () => {
    const named = new Set(statements.flatMap((each) => each.rules));
    expect(ids.filter((id) => !named.has(id))).toEqual([]);
  });

  test('are of the section that a rule of theirs names', () => {
    const sectionOf = new Map(rules.map(({ id, section }) => [id, section]));
    const ofOthers = ['2.1', '9'];
    const wrong = statements.filter(
      ({ section, rules: each }) =>
        !ofOthers.includes(section) && !each.some((id) => [section, '7', '8'].includes(sectionOf.get(id) ?? '')),
    );
    expect(wrong.map(({ section, text }) => `${section}: ${text}`)).toEqual([]);
  });
});

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Every field, query parameter and status of a document, named as in `STATEMENTS`. */
function partsOf({ paths, components: { schemas } }: Document): string[] {
  const fieldsOf = (schema: Schema, path: string): string[] => {
    if (schema.$ref !== undefined) return fieldsOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, path);
    const own = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
      const field = path === '' ? name : `${path}.${name}`;
      return [field, ...fieldsOf(each, field)];
    });
    const inner = schema.items === undefined ? [] : fieldsOf(schema.items, `${path}[]`);
    return [...own, ...inner, ...(schema.allOf ?? []).flatMap((each) => fieldsOf(each, path))];
  };
  const bodyOf = (content: Content = {}) => fieldsOf(content.content?.['application/json']?.schema ?? {}, '');
  return Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId !== undefined)
    .flatMap(({ operationId, parameters = [], requestBody, responses }) => [
      ...parameters.filter((each) => each.in === 'query').map(({ name }) => `${operationId} query ${name}`),
      ...bodyOf(requestBody).map((field) => `${operationId} request ${field}`),
      ...bodyOf(responses['200'] ?? responses['202']).map((field) => `${operationId} answer ${field}`),
      ...Object.keys(responses)
        .filter((status) => STATUSES.includes(status))
        .map((status) => `${operationId} status ${status}`),
    ]);
}

describe('the documents of the four interfaces', () => {
  const parts = globSync('docs/openapi/{scale,account,site,vision}.json').flatMap((file) =>
    partsOf(JSON.parse(readFileSync(file, 'utf8')) as Document),
  );

  test('have no field, parameter or status without a rule', () => {
    const fields = statements.map(({ field }) => field).filter((field) => field !== '');
    expect([...new Set(fields)].sort()).toEqual([...new Set(parts)].filter((part) => !ADDITIONS.test(part)).sort());
  });

  test('have a rule of both sides for every field that is sent', () => {
    const isOfCaller = (id: string) => /^(PARTNER|PLATFORM)-/.test(id);
    const sent = statements.filter(({ field }) => / request /.test(field));
    expect(sent.length).toBeGreaterThan(30);
    expect(sent.filter(({ rules: each }) => !each.some(isOfCaller) || each.every(isOfCaller))).toEqual([]);
  });
});
