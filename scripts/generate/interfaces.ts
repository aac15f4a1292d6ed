import { type ApiContract, type ErrorKind, KIND_STATUS } from '../../src/contracts/common/api-contract.js';
import { INTERFACES } from '../../src/contracts/common/interfaces.values.js';
import { failuresOf } from '../../src/contracts/common/failures.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../src/contracts/common/pagination.dto.js';
import { VIDEO_STATUSES } from '../../src/contracts/vision/vision.api.js';
import { PUBLICATIONS } from '../../src/admin/documents/publications.js';
import { generatedBlocks, table } from './generated-blocks.js';
import type { Generator } from './generator.js';
import { boundsOf, documentOf, Schemas, typeOf } from './interface-tables.js';

const APIS = PUBLICATIONS.filter(({ api }) => (INTERFACES as readonly string[]).includes(api.name));
const HOST = { platform: 'the platform', partner: 'a partner' };
const CALLER = { platform: 'partners', partner: 'the platform' };
const ISSUER = { platform: 'the platform, one for each hauler', partner: 'the partner' };
const PURPOSE: Readonly<Record<string, string>> = {
  scale: 'push scale tickets',
  account: 'create customer accounts',
  site: 'read disposal sites, kiosks and materials of a hauler',
  vision: 'request clips, and list and download clips and continuous recordings of truck cameras',
};

const apiOf = (name: string): ApiContract => {
  const found = APIS.find(({ api }) => api.name === name);
  if (found === undefined) throw new Error(`no interface ${name}`);
  return found.api;
};
const yes = (value: boolean) => (value ? 'yes' : 'no');
const codeFor = ({ errors }: ApiContract, kind: ErrorKind) => errors[kind] ?? '';

function interfaceTable(): string {
  const rows = APIS.map(({ api, side = 'platform' }) => [
    `${api.title} ${api.version}`,
    HOST[side],
    CALLER[side],
    PURPOSE[api.name] ?? '',
  ]);
  return table(['interface', 'hosted by', 'called by', 'purpose'], rows);
}

function fields(schemas: Schemas, schemaName = ''): string {
  const schema = schemas.named(schemaName);
  const rows = schemas
    .fields(schema)
    .map(({ path, schema: field, isRequired }) => [
      `\`${path}\``,
      typeOf(field),
      yes(isRequired),
      boundsOf(field),
      field.description ?? '',
    ]);
  const example = JSON.stringify(schemas.example(schema), null, 2);
  return `${table(['field', 'type', 'required', 'bounds', 'meaning'], rows)}\n\n\`\`\`json\n${example}\n\`\`\``;
}

function call(name = '', operation = ''): string {
  const api = apiOf(name);
  const route = api.routes[operation];
  if (route === undefined) throw new Error(`no operation ${operation}`);
  const path = api.prefix + route.path;
  const parameters = documentOf(name).paths[path]?.[route.method.toLowerCase()]?.parameters ?? [];
  const inputs = parameters.map((each) => [
    `\`${each.name}\``,
    each.in,
    typeOf(each.schema),
    yes(each.required),
    boundsOf(each.schema),
    each.description,
  ]);
  const outputs = Object.entries(route.responseHeaders ?? {}).map(([header, { description }]) => [
    `\`${header}\``,
    description,
  ]);
  const failures = failuresOf(route).map(([kind, { description }]) => [
    String(KIND_STATUS[kind]),
    `\`${codeFor(api, kind)}\``,
    description,
  ]);
  const answers = [[String(route.status), '', route.returns], ...failures].sort(([one], [other]) =>
    Number(one) < Number(other) ? -1 : 1,
  );
  return [
    `\`\`\`http\n${route.method} https://haulbridge.example${path}\n${api.keyHeader}: <API key>\n\`\`\``,
    ...(inputs.length === 0 ? [] : [table(['parameter', 'in', 'type', 'required', 'bounds', 'meaning'], inputs)]),
    ...(outputs.length === 0 ? [] : [table(['header of the answer', 'meaning'], outputs)]),
    table(['status', 'code', 'when'], answers),
  ].join('\n\n');
}

const states = () =>
  table(
    ['status', 'next'],
    VIDEO_STATUSES.map((status) => [
      `\`${status}\``,
      status === 'processing'
        ? VIDEO_STATUSES.slice(1)
            .map((each) => `\`${each}\``)
            .join(' or ')
        : 'final',
    ]),
  );

const keys = () =>
  table(
    ['interface', 'header', 'issued by'],
    APIS.map(({ api, side = 'platform' }) => [api.title, `\`${api.keyHeader}\``, ISSUER[side]]),
  );

function codes(): string {
  const all = [...new Set(APIS.flatMap(({ api }) => api.codes))];
  const statuses = (api: ApiContract, code: string) =>
    (Object.keys(KIND_STATUS) as ErrorKind[])
      .filter((kind) => Object.values(api.routes).some((route) => failuresOf(route).some(([each]) => each === kind)))
      .filter((kind) => api.errors[kind] === code)
      .map((kind) => KIND_STATUS[kind]);
  const cell = (api: ApiContract, code: string) =>
    api.codes.includes(code) ? statuses(api, code).join(', ') || 'allowed, not used' : '';
  return table(
    ['code', ...APIS.map(({ api }) => api.title)],
    all.map((code) => [`\`${code}\``, ...APIS.map(({ api }) => cell(api, code))]),
  );
}

const limits = () =>
  table(
    ['limit', 'value'],
    [
      ['`page` if absent', '1'],
      ['`pageSize` if absent', String(DEFAULT_PAGE_SIZE)],
      ['`pageSize` at most', String(MAX_PAGE_SIZE)],
    ],
  );

const versions = () =>
  table(
    ['interface', 'version', 'path'],
    APIS.map(({ api }) => [api.title, api.version, `\`${api.prefix}\``]),
  );

const PAGE = 'docs/interfaces.md';

/** The fields, calls and codes of the four interfaces, from the contracts and their documents. */
export const interfaces: Generator = () => {
  const schemas = new Map(APIS.map(({ api }) => [api.name as string, new Schemas(api.name)]));
  const blocks: Readonly<Record<string, (...words: string[]) => string>> = {
    interfaces: interfaceTable,
    fields: (name = '', schemaName) => fields(schemas.get(apiOf(name).name) ?? new Schemas(name), schemaName),
    call,
    states,
    keys,
    codes,
    limits,
    versions,
  };
  const calls = APIS.flatMap(({ api }) => Object.keys(api.routes).map((name) => `call ${api.name} ${name}`));
  const required = [...calls, 'interfaces', 'states', 'keys', 'codes', 'limits', 'versions'];
  const text = generatedBlocks(PAGE, required, (kind = '', ...words) => {
    const block = blocks[kind];
    if (block === undefined) throw new Error(`${PAGE} has a block of an unknown kind: ${kind}`);
    return block(...words);
  });
  for (const [name, { unused }] of schemas)
    if (unused.length > 0) throw new Error(`${PAGE} has no table of ${unused.join(', ')} of ${name}`);
  const fault = /NaN|undefined|\[object/.exec(text);
  if (fault !== null) throw new Error(`${PAGE} would say ${fault[0]}`);
  return { [PAGE]: text };
};
