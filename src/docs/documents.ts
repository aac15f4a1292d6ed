import type { INestApplication } from '@nestjs/common';
import { ApiProperty, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Side } from '../config/env.js';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import { ADMIN_API, ADMIN_SUBJECTS } from '../contracts/admin/admin.api.js';
import { type ApiContract, kindOf } from '../contracts/common/api-contract.js';
import { ErrorBody, PlainErrorBody } from '../contracts/common/error-body.dto.js';
import { documentedClasses } from '../contracts/common/fields/documented.js';
import { PARTNER_API } from '../contracts/partner/partner.api.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { IGNORED_FIELDS_HEADER } from '../http/json-body.js';
import { ADMIN_SECURITY } from '../http/route-documentation.js';
import { GUIDES } from './guides.js';
import { withSharedParts } from './shared-parts.js';

/** One published document: `/docs/<name>.json` and `.yaml`. */
export interface Publication {
  readonly api: ApiContract & { readonly name: keyof typeof GUIDES };
  /** The side that serves it; both if absent. */
  readonly side?: Side;
}

export const PUBLICATIONS: readonly Publication[] = [
  { api: SCALE_API, side: 'platform' },
  { api: ACCOUNT_API, side: 'platform' },
  { api: SITE_API, side: 'partner' },
  { api: VISION_API, side: 'partner' },
  { api: PARTNER_API },
  { api: ADMIN_API },
];

interface Response {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { example?: unknown; examples?: unknown }>;
}

interface Parameter {
  required?: boolean;
  example?: unknown;
  schema?: { example?: unknown };
}

interface Operation {
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: unknown;
  responses?: Record<string, Response>;
}

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** Stands for the address of the service in a document; the committed copies keep it. */
export const SERVER_PLACEHOLDER = 'https://haulbridge.example';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;
const ERROR_BODIES: ReadonlySet<string> = new Set([ErrorBody.name, PlainErrorBody.name]);

const QUOTA = 'absent unless the operator sets a rate limit (the admin token has none)';
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds until a retry can succeed', schema: { type: 'string', maxLength: 16 } },
};
const HEADERS = {
  'X-Request-Id': {
    description:
      "Identifies this request in the logs; the caller's own id is echoed if it has 1 to 128 visible ASCII characters",
    schema: { type: 'string', maxLength: 128 },
  },
  RateLimit: { description: `The remaining quota of this key; ${QUOTA}`, schema: { type: 'string', maxLength: 256 } },
  'RateLimit-Policy': { description: `The quota of this key; ${QUOTA}`, schema: { type: 'string', maxLength: 256 } },
};

const IGNORED_FIELDS = {
  [IGNORED_FIELDS_HEADER]: {
    description:
      'Unknown fields of the body, which were ignored: at most 10 paths, with the field that was probably meant; absent if there are none',
    schema: { type: 'string', maxLength: 4_200 },
  },
};

/** The publications of the served sides. The document of the other side would have no paths. */
export function publicationsOf(sides: ReadonlySet<Side>): readonly Publication[] {
  return PUBLICATIONS.filter(({ side }) => side === undefined || sides.has(side));
}

/** All routes of the application in one document. */
export function wholeDocument(app: INestApplication): OpenAPIObject {
  for (const [type, fields] of documentedClasses()) {
    for (const [name, schema] of fields) ApiProperty(schema)(type.prototype, name);
  }
  return SwaggerModule.createDocument(app, new DocumentBuilder().build(), {
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
}

/** The document of one contract: its routes and schemas, and what every response of the contract has in common. */
export function documentOf(whole: OpenAPIObject, { api }: Publication): OpenAPIObject {
  const routes = new Set(Object.values(api.routes).map((route) => api.prefix + route.path));
  const served = Object.entries(whole.paths).filter(([path]) => routes.has(path));
  // Swagger UI shows operations in this order, and several controllers may serve one subject of the admin API.
  if (api.name === 'admin') served.sort(([one], [other]) => (one < other ? -1 : 1));
  const paths = Object.fromEntries(served);
  for (const operation of operationsIn(paths)) complete(operation, api);
  const builder = new DocumentBuilder()
    .setTitle(`haulbridge ${api.title}`)
    .setDescription(GUIDES[api.name])
    .setVersion(api.version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(SERVER_PLACEHOLDER, 'Local or production service', {}, { 'x-internal': api.name === 'admin' })
    .addSecurity(api.name === 'admin' ? ADMIN_SECURITY : api.keyHeader, securityScheme(api));
  // A partner's key of the other side.
  if (api.name === 'partner') builder.addSecurity('API-KEY', securityScheme({ ...api, keyHeader: 'API-KEY' }));
  const base = builder.build();
  return withSharedParts({
    ...base,
    paths,
    tags: tagsOf(paths, api),
    components: { ...whole.components, ...base.components, schemas: schemasOf(whole, paths, api) },
  });
}

function operationsIn(paths: OpenAPIObject['paths']): Operation[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => (item[method] as Operation) ?? []));
}

function securityScheme(api: ApiContract): Parameters<DocumentBuilder['addSecurity']>[1] {
  if (api.keyHeader === 'Authorization') {
    return { type: 'http', scheme: 'bearer', description: 'The admin token of this service (RFC 6750)' };
  }
  return { type: 'apiKey', in: 'header', name: api.keyHeader, description: `API key of the ${api.title}` };
}

/** The document of one interface has one tag. The admin API has one for each subject that is served here. */
function tagsOf(paths: OpenAPIObject['paths'], api: ApiContract): { name: string; description: string }[] {
  if (api.name !== 'admin') return [{ name: api.title, description: `${api.title} ${api.version}` }];
  const served = new Set(operationsIn(paths).flatMap(({ tags = [] }) => tags));
  return [...ADMIN_SUBJECTS].filter(([name]) => served.has(name)).map(([name, description]) => ({ name, description }));
}

function complete(operation: Operation, api: ApiContract): void {
  // Swagger UI sends examples as they are: a filter by an unknown id would make every list look empty.
  for (const parameter of operation.parameters ?? []) {
    if (parameter.required === true) continue;
    delete parameter.example;
    delete parameter.schema?.example;
  }
  const isInterface = api.name !== 'admin' && api.name !== 'partner';
  const ofBody = operation.requestBody !== undefined && isInterface ? IGNORED_FIELDS : {};
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    response.headers = {
      ...HEADERS,
      ...ofBody,
      ...(/^(429|503)$/.test(status) ? RETRY_AFTER : {}),
      ...response.headers,
    };
    addErrorExample(api, status, response);
  }
}

/** Shows the code of a failure if its route has no example. The examples of a 400 are the violations in its schema. */
function addErrorExample(api: ApiContract, status: string, { description = '', content = {} }: Response): void {
  const kind = kindOf(Number(status));
  const json = content['application/json'];
  if (kind === undefined || kind === 'invalid' || json === undefined || json.examples !== undefined) return;
  json.example = { success: false, error: { code: api.errors[kind], message: description.replace(/;.*/, '') } };
}

/** The schemas that the paths refer to. */
function schemasOf(whole: OpenAPIObject, paths: object, api: ApiContract): Record<string, Schema> {
  const schemas = whole.components?.schemas ?? {};
  const used = referencedIn(paths, schemas);
  const entries = Object.entries(schemas).filter(([name]) => used.has(name));
  return Object.fromEntries(entries.map(([name, schema]) => [name, withErrorCodes(name, schema, api)]));
}

/** Names of the schemas that a part of the document refers to, also through other schemas. */
function referencedIn(part: unknown, schemas: Readonly<Record<string, unknown>>, found = new Set<string>()) {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    referencedIn(schemas[name], schemas, found);
  }
  return found;
}

/** The class of an error body serves all interfaces; the closed set of codes is that of one (section 7). */
function withErrorCodes(name: string, schema: Schema, { codes }: ApiContract): Schema {
  if (!ERROR_BODIES.has(name) || !('properties' in schema) || schema.properties === undefined) return schema;
  const { code, ...others } = schema.properties;
  return { ...schema, properties: { code: { ...code, enum: [...codes] }, ...others } };
}
