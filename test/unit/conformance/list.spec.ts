import 'reflect-metadata';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { runKit } from '../../../src/conformance/kit.js';

interface ListedRule {
  readonly id: string;
  readonly role: string;
  readonly section: string;
  readonly severity: string;
  readonly operation: string;
  readonly title: string;
  readonly remedy: string;
}

async function list(...words: string[]) {
  let text = '';
  const out = (each: string) => void (text += each);
  expect(await runKit(['--list', ...words], { out, err: out })).toBe(0);
  return text;
}

const rules = JSON.parse(await list('--format', 'json')) as ListedRule[];
const ROLES = ['site-server', 'vision-server', 'partner-client'];

describe('--list', () => {
  test('has the rules of three roles, each with an id of its own, a title and a remedy', () => {
    expect([...new Set(rules.map(({ role }) => role))]).toEqual(ROLES);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    const isWhole = ({ id, severity, title, remedy }: ListedRule) =>
      /^[A-Z]+-\d{3}$/.test(id) && ['must', 'should'].includes(severity) && title !== '' && remedy !== '';
    expect(rules.filter((rule) => !isWhole(rule))).toEqual([]);
  });

  test('shows one role as text', async () => {
    const text = await list('--role', 'partner-client');
    expect(text).toMatch(/^PARTNER-001 {2}must {4}section \d/m);
    expect(text).not.toContain('SITE-001');
  });
});

test('a search for the id of a rule finds where it is declared', () => {
  const sources = globSync('src/conformance/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  expect(rules.map(({ id }) => id).filter((id) => !sources.some((text) => text.includes(`'${id}'`)))).toEqual([]);
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
  readonly operationId?: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Statuses of the interface document; the others of our documents are additions, as this field is. */
const STATUSES = ['400', '401', '404', '409', '422', '500'];
const ADDITION = 'gaps';

/** What a partner sends in a call of the platform, and all that it must understand and answer of an operation of its own. */
function partsOf(
  { parameters = [], requestBody, responses }: Operation,
  schemas: Document['components']['schemas'],
  isOwn: boolean,
) {
  const fieldsOf = ({ $ref, properties = {}, items, allOf = [] }: Schema): string[] => [
    ...($ref === undefined ? [] : fieldsOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {})),
    ...Object.entries(properties).flatMap(([name, each]) => [name, ...fieldsOf(each)]),
    ...[...(items === undefined ? [] : [items]), ...allOf].flatMap(fieldsOf),
  ];
  const bodyOf = (of: Content = {}) => fieldsOf(of.content?.['application/json']?.schema ?? {});
  if (!isOwn) return bodyOf(requestBody);
  const query = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  const statuses = Object.keys(responses).filter((status) => STATUSES.includes(status));
  return [...query, ...bodyOf(requestBody), ...bodyOf(responses['200'] ?? responses['202']), ...statuses];
}

test('everything that a partner sends or understands in the four interfaces stands in a rule of its operation', () => {
  const missing = globSync('docs/openapi/{scale,account,site,vision}.json').flatMap((file) => {
    const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as Document;
    return Object.values(paths)
      .flatMap((path) => Object.values(path))
      .filter(({ operationId }) => operationId !== undefined)
      .flatMap((operation) => {
        const own = rules.filter((rule) => ['every', operation.operationId].includes(rule.operation));
        const texts = own.map(({ title, remedy }) => `${title} ${remedy}`).join(' ');
        return partsOf(operation, components.schemas, /site|vision/.test(file)).filter((part) => !texts.includes(part));
      });
  });
  expect([...new Set(missing)]).toEqual([ADDITION]);
});

test('the sections that state something about a partner have a rule', () => {
  const sections = [...new Set(rules.map(({ section }) => section))];
  const stated = '2.1 2.2 2.4 2.4a 2.5a 2.6 3 4 4.2 4.3 4.4 4.5 4.6 5 7 8'.split(' ');
  expect(sections).toEqual(expect.arrayContaining(stated));
});

test.each([
  ['scale-server', '--role partner-client'],
  ['account-server', '--role partner-client'],
  ['platform-client', '--role site-server or --role vision-server'],
])('the removed role %s is refused with what to use', async (role, sentence) => {
  for (const words of [['--list'], ['--url', 'http://127.0.0.1:1', '--api-key', 'k'], ['--listen', '0']]) {
    let err = '';
    const streams = { out: () => undefined, err: (text: string) => void (err += text) };
    expect(await runKit(['--role', role, ...words], streams)).toBe(2);
    expect(err).toContain(`--role ${role} is removed`);
    expect(err).toContain(sentence);
  }
});
