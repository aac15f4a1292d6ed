import type { OpenAPIObject } from '@nestjs/swagger';
import { type ApiContract, kindOf } from '../contracts/common/api-contract.js';
import { ErrorBody, PlainErrorBody } from '../contracts/common/error-body.dto.js';
import { ADMIN_SUBJECTS } from './guides.js';

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
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: Parameter[];
  responses?: Record<string, Response>;
}

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

const ERROR_BODIES: ReadonlySet<string> = new Set([ErrorBody.name, PlainErrorBody.name]);
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const HEADERS = {
  'X-Request-Id': {
    description:
      "Names this request in the logs; the caller's own id is echoed if it is 1 to 128 visible ASCII characters",
    schema: { type: 'string', maxLength: 128 },
  },
  'Retry-After': { description: 'Seconds until it is worth trying again', schema: { type: 'string', maxLength: 16 } },
  // Told though it is never sent: the OWASP rule define-cors-origin, which the documents must pass, asks for its name.
  'Access-Control-Allow-Origin': {
    description: 'Never sent: no page of another origin is meant to call this interface',
    schema: { type: 'string', maxLength: 255 },
  },
  RateLimit: {
    description:
      'What is left of the quota of this key; sent where the operator has turned rate limits on (the admin token has no quota)',
    schema: { type: 'string', maxLength: 256 },
  },
  'RateLimit-Policy': {
    description:
      'The quota of this key; sent where the operator has turned rate limits on (the admin token has no quota)',
    schema: { type: 'string', maxLength: 256 },
  },
};

/** Adds what every answer of a contract carries, and leaves out the schemas that none of its routes mentions. */
export function finish(document: OpenAPIObject, api: ApiContract): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) continue;
      if (api.name === 'admin') operation.operationId = adminOperationId(method, path);
      operation.tags ??= [api.title];
      operation.parameters?.filter(({ required }) => required !== true).forEach(leaveEmpty);
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        response.headers = { ...headersOf(status), ...response.headers };
        showError(api, status, response);
      }
    }
  }
  const schemas = document.components?.schemas ?? {};
  const used = mentioned(document.paths, schemas);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return {
    ...document,
    tags: tagsOf(document, api),
    components: { ...document.components, schemas: Object.fromEntries(kept.map((each) => withCodes(each, api))) },
  };
}

/** A document of one interface has one tag; that of the admin API has a tag for each subject that is served here. */
function tagsOf(document: OpenAPIObject, api: ApiContract): { name: string; description: string }[] {
  if (api.name !== 'admin') return [{ name: api.title, description: `${api.title} ${api.version}` }];
  const served = new Set(
    Object.values(document.paths).flatMap((item) => METHODS.flatMap((method) => item[method]?.tags ?? [])),
  );
  return [...ADMIN_SUBJECTS].filter(([name]) => served.has(name)).map(([name, description]) => ({ name, description }));
}

/** `GET /admin/v1/haulers/{id}` is `getHaulersById`: unique, whatever the controllers call their methods. */
function adminOperationId(method: string, path: string): string {
  const words = path
    .split('/')
    .slice(3)
    .flatMap((part) => (part.startsWith('{') ? ['by', ...part.slice(1, -1).split('-')] : part.split('-')));
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function headersOf(status: string): Record<string, unknown> {
  const { 'Retry-After': retryAfter, ...always } = HEADERS;
  return { ...always, ...(status === '429' || status === '503' ? { 'Retry-After': retryAfter } : {}) };
}

/** Swagger UI sends examples as they stand: a filter by an id of nobody would make every list look empty. */
function leaveEmpty(parameter: Parameter): void {
  delete parameter.example;
  delete parameter.schema?.example;
}

/** The code of each failure in an example, where a route has none of its own; a 400 has the violations of its schema. */
function showError(api: ApiContract, status: string, { description = '', content = {} }: Response): void {
  const kind = kindOf(Number(status));
  const json = content['application/json'];
  if (kind === undefined || kind === 'invalid' || json === undefined || json.examples !== undefined) return;
  json.example = { success: false, error: { code: api.errors[kind], message: description.replace(/;.*/, '') } };
}

/** The error bodies of an interface with the closed set of its codes (section 7); their classes serve all interfaces. */
function withCodes([name, schema]: [string, Schema], { codes }: ApiContract): [string, Schema] {
  if (!ERROR_BODIES.has(name) || !('properties' in schema) || schema.properties === undefined) return [name, schema];
  const { code, ...others } = schema.properties;
  return [name, { ...schema, properties: { code: { ...code, enum: [...codes] }, ...others } }];
}

/** Names of the schemas that a part of the document refers to, through other schemas too. */
function mentioned(part: unknown, schemas: Readonly<Record<string, unknown>>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    mentioned(schemas[name], schemas, found);
  }
  return found;
}
