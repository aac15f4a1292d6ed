import type { OpenAPIObject } from '@nestjs/swagger';
import { ADMIN_SUBJECTS } from '../../contracts/admin/admin.api.js';
import {
  type ApiContract,
  type ApiRoute,
  type ErrorKind,
  type Failure,
  type Header,
  KIND_STATUS,
} from '../../contracts/common/api-contract.js';
import { BOM_PARAMETER, CSV_TYPE, csvColumns, csvFormOf, NDJSON_TYPE } from '../../contracts/common/csv.js';
import { ErrorResponse, PlainErrorResponse } from '../../contracts/common/error-body.dto.js';
import { dryRunPlaceOf, failuresOf, FILE_HEADERS, jsonBodyOf, textHeader } from '../../contracts/common/failures.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { IGNORED_FIELDS_HEADER } from '../../core/http/json-body.js';
import { Schemas, type ShareableOperation, shareParts } from './schemas.js';

type SecurityScheme = NonNullable<NonNullable<OpenAPIObject['components']>['securitySchemes']>[string];
type Headers = Readonly<Record<string, Header>>;
type Content = Readonly<Record<string, object>>;

/** A response of an operation, before it is shared. */
interface Reply {
  readonly description: string;
  readonly headers?: Headers;
  readonly content?: Content;
}

/** A parameter of an operation, before it is shared. */
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string | undefined;
  readonly required: boolean;
  readonly schema: object;
}

const text = (maxLength: number) => ({ type: 'string' as const, maxLength });
const QUOTA = 'absent unless the operator sets a rate limit (the admin token has none)';

const HEADERS: Headers = {
  'X-Request-Id': textHeader(
    "Identifies this request in the logs; the caller's own id is echoed if it has 1 to 128 visible ASCII characters",
    128,
  ),
  RateLimit: textHeader(`The remaining quota of this key; ${QUOTA}`, 256),
  'RateLimit-Policy': textHeader(`The quota of this key; ${QUOTA}`, 256),
};
const RETRY_AFTER: Headers = {
  'Retry-After': textHeader('Seconds until a retry can succeed', 16),
};
const IGNORED_FIELDS: Headers = {
  [IGNORED_FIELDS_HEADER]: textHeader(
    'Unknown fields of the body, which were ignored: at most 10 paths, with the field that was probably meant; absent if there are none',
    4_200,
  ),
};
const NO_STORE: Headers = {
  'Cache-Control': {
    description: 'No cache may store the response',
    schema: { type: 'string', enum: ['no-store'] },
  },
};
const CONTENT_RANGE: Headers = {
  'Content-Range': textHeader('The range in the file, and the size of the file', 64),
};
const FILE_REQUEST_HEADERS: Headers = {
  Range: textHeader('A byte range, such as `bytes=0-1023`; the response to several ranges is the whole file', 255),
  'If-Range': textHeader(
    'The `ETag` of a partial download; if the file has changed, the response is the whole file',
    255,
  ),
  'If-None-Match': textHeader(
    'The `ETag` of a stored copy; if the file has not changed, the response is 304 without a body',
    255,
  ),
};
const BOM: Parameter = {
  name: BOM_PARAMETER,
  in: 'query',
  description: 'Of a CSV: begin with a byte order mark, by which spreadsheets recognise UTF-8',
  required: false,
  schema: { type: 'boolean', default: false },
};
const BINARY = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };

/** The OpenAPI document of a contract. `guide` is the Markdown above its operations. */
export function openApiOf(api: ApiContract, guide: string): OpenAPIObject {
  const schemas = new Schemas(api.codes);
  const paths: Record<string, Record<string, ShareableOperation>> = {};
  for (const route of routesOf(api)) {
    const path = (paths[api.prefix + route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(api, route, schemas);
  }
  const shared = shareParts(Object.values(paths).flatMap((path) => Object.values(path)));
  const server = { url: '/', description: 'Local or production service', 'x-internal': api.name === 'admin' };
  return {
    openapi: '3.0.0',
    info: {
      title: `haulbridge ${api.title}`,
      description: guide.trim(),
      version: api.version,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [server],
    tags: tagsOf(api),
    paths,
    components: { securitySchemes: Object.fromEntries(schemesOf(api)), schemas: schemas.all, ...shared },
  };
}

/** Swagger UI shows operations in this order. The routes of the admin API are many: they are sorted by their paths. */
function routesOf({ name, routes }: ApiContract): ApiRoute[] {
  const all = Object.values(routes);
  return name === 'admin' ? all.sort((one, other) => (one.path < other.path ? -1 : 1)) : all;
}

/** The document of one interface has one tag. The admin API has one for each subject. */
const tagOf = ({ name, title }: ApiContract, route: ApiRoute): string =>
  name === 'admin' ? (route.path.split('/')[1] ?? '') : title;

const tagsOf = ({ name, title, version }: ApiContract) =>
  name === 'admin'
    ? [...ADMIN_SUBJECTS].map(([subject, description]) => ({ name: subject, description }))
    : [{ name: title, description: `${title} ${version}` }];

/** A partner sends its key in the header of either side. */
function schemesOf({ name, title, keyHeader }: ApiContract): [name: string, scheme: SecurityScheme][] {
  if (name === 'admin') {
    const description = 'The admin token of this service (RFC 6750)';
    return [['ADMIN-TOKEN', { type: 'http', scheme: 'bearer', description }]];
  }
  const headers = name === 'partner' ? [keyHeader, 'API-KEY'] : [keyHeader];
  const description = `API key of the ${title}`;
  return headers.map((header) => [header, { type: 'apiKey', in: 'header', name: header, description }]);
}

function operationOf(
  api: ApiContract,
  route: ApiRoute,
  schemas: Schemas,
): ShareableOperation & Record<string, unknown> {
  const body = bodyOf(route, schemas);
  const isInterface = api.name !== 'admin' && api.name !== 'partner';
  const ofBody = body !== undefined && isInterface ? IGNORED_FIELDS : {};
  const replies: [status: number, Reply][] = [
    ...successesOf(route, schemas),
    ...failuresOf(route).map(([kind, failure]): [number, Reply] => [
      KIND_STATUS[kind],
      failureReply(api, route, kind, failure, schemas),
    ]),
  ];
  const responses = replies.map(([status, reply]) => {
    const retry = status === 429 || status === 503 ? RETRY_AFTER : {};
    return [status, { ...reply, headers: { ...HEADERS, ...ofBody, ...retry, ...reply.headers } }] as const;
  });
  return {
    operationId: route.operation,
    tags: [tagOf(api, route)],
    summary: route.summary,
    description: route.description,
    ...(api.name === 'admin' ? { 'x-role': route.role } : {}),
    security: schemesOf(api).map(([name]) => ({ [name]: [] })),
    parameters: parametersOf(route, schemas),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: Object.fromEntries(responses),
  };
}

function parametersOf(route: ApiRoute, schemas: Schemas): Parameter[] {
  const { params, query, requestHeaders = {}, csv, file } = route;
  const headers = { ...requestHeaders, ...(file === undefined ? {} : FILE_REQUEST_HEADERS) };
  return [
    ...fieldParameters('path', params, schemas),
    ...fieldParameters('query', query, schemas),
    ...(csv === undefined ? [] : [BOM]),
    ...Object.entries(headers).map(([name, { description, schema }]) =>
      parameterOf('header', name, false, { ...schema, description }),
    ),
  ];
}

const fieldParameters = (place: 'path' | 'query', type: DtoClass | undefined, schemas: Schemas): Parameter[] =>
  type === undefined
    ? []
    : schemas.fieldsOf(type).map(({ name, isRequired, schema }) => parameterOf(place, name, isRequired, schema));

function parameterOf(place: Parameter['in'], name: string, required: boolean, schema: object): Parameter {
  const { description, example, ...facts } = schema as { description?: string; example?: unknown };
  // Swagger UI sends examples as they are: a filter by an unknown id would make every list look empty.
  const shown = required && example !== undefined ? { example } : {};
  return { name, in: place, description, required, schema: { ...facts, ...shown } };
}

function bodyOf(route: ApiRoute, schemas: Schemas): object | undefined {
  const { isBodyOptional, examples, upload } = route;
  const type = jsonBodyOf(route);
  if (type !== undefined) {
    const content = { schema: schemas.refer(type), ...(examples === undefined ? {} : { examples }) };
    return { required: isBodyOptional !== true, content: { 'application/json': content } };
  }
  if (upload === undefined) return undefined;
  const schema = { type: 'string', format: 'binary', maxLength: upload.maxBytes };
  return { required: true, content: { [upload.contentType]: { schema } } };
}

function successesOf(route: ApiRoute, schemas: Schemas): [status: number, Reply][] {
  const { status, returns, file, isSecret, responseHeaders, notModified } = route;
  if (file !== undefined) return fileReplies(file);
  const headers = isSecret === true ? NO_STORE : responseHeaders;
  const content = contentOf(route, schemas);
  const success = {
    description: returns,
    ...(headers === undefined ? {} : { headers }),
    ...(content === undefined ? {} : { content }),
  };
  const preview = previewOf(route, schemas);
  return [
    [status, success],
    ...(preview === undefined ? [] : [[200, preview] as [number, Reply]]),
    ...(notModified === undefined ? [] : [[304, notModified] as [number, Reply]]),
  ];
}

/** The answer to a dry run of a route whose status is another one. */
function previewOf(route: ApiRoute, schemas: Schemas): Reply | undefined {
  const { status, preview, response } = route;
  const type = preview ?? response;
  if (status === 200 || type === undefined || dryRunPlaceOf(route) === undefined) return undefined;
  return { description: 'What would be done', content: { 'application/json': { schema: schemas.refer(type) } } };
}

/** The responses of a route that calls `sendFile`. */
function fileReplies(type: string): [status: number, Reply][] {
  const content = { [type]: { schema: BINARY } };
  return [
    [200, { description: 'The file', content, headers: FILE_HEADERS }],
    [206, { description: 'A range of the file', content, headers: { ...FILE_HEADERS, ...CONTENT_RANGE } }],
    [304, { description: 'The file has not changed', headers: FILE_HEADERS }],
  ];
}

/** A page as JSON, or with `Accept` the whole list. */
function contentOf(route: ApiRoute, schemas: Schemas): Content | undefined {
  const { response, variants = [], archive, ndjson } = route;
  if (archive !== undefined) return { [archive]: { schema: BINARY } };
  if (response === undefined) return undefined;
  // The schema of the response refers to them by name.
  for (const variant of variants) schemas.refer(variant);
  const csv = csvFormOf(route);
  const columns = csv === undefined ? [] : csvColumns(csv).map(({ name }) => `\`${name}\``);
  return {
    'application/json': { schema: schemas.refer(response) },
    ...(csv === undefined ? {} : { [CSV_TYPE]: wholeList(`with the columns ${columns.join(', ')}`) }),
    ...(ndjson === true ? { [NDJSON_TYPE]: wholeList('each as JSON in a line of its own') } : {}),
  };
}

const wholeList = (form: string) => ({
  schema: { ...text(Number.MAX_SAFE_INTEGER), description: `All elements from \`cursor\` on, ${form}` },
});

function failureReply(api: ApiContract, route: ApiRoute, kind: ErrorKind, failure: Failure, schemas: Schemas): Reply {
  const { description, headers } = failure;
  const schema = schemas.refer(route.plainErrors === true ? PlainErrorResponse : ErrorResponse);
  const content = { 'application/json': { schema, ...failureExamples(api, kind, failure) } };
  return { description, content, ...(headers === undefined ? {} : { headers }) };
}

/** The code of a failure, if its route has no examples. Those of a 400 are the violations in its schema. */
function failureExamples(api: ApiContract, kind: ErrorKind, { description, examples }: Failure): object {
  if (examples !== undefined) {
    const all = Object.entries(examples).map(([summary, error]) => [
      summary,
      { summary, value: { success: false, error } },
    ]);
    return { examples: Object.fromEntries(all) as object };
  }
  if (kind === 'invalid') return {};
  return { example: { success: false, error: { code: api.errors[kind], message: description.replace(/;.*/, '') } } };
}
