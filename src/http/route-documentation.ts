import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExcludeEndpoint,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  type ApiResponseOptions,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  type ApiContract,
  type ApiRoute,
  type Failure,
  type Header,
  KIND_STATUS,
} from '../contracts/common/api-contract.js';
import { BOM_PARAMETER, csvColumns, csvFormOf, type CsvForm } from '../contracts/common/csv.js';
import { ErrorResponse, PlainErrorResponse } from '../contracts/common/error-body.dto.js';
import type { DtoClass } from '../contracts/common/fields/field.js';
import { CSV_TYPE, NDJSON_TYPE } from '../contracts/common/list-forms.js';
import { failuresOf, FILE_HEADERS, jsonBodyOf } from '../contracts/common/failures.js';

const NO_STORE = {
  'Cache-Control': {
    description: 'No cache may store the response',
    schema: { type: 'string' as const, enum: ['no-store'] },
  },
};

/** Name of the admin API's security scheme in its document. */
export const ADMIN_SECURITY = 'ADMIN-TOKEN';

/** Documents a route as its contract describes it. */
export function documented(api: ApiContract, route: ApiRoute): MethodDecorator {
  if (api.isHidden === true) return ApiExcludeEndpoint();
  const { operation: operationId, summary, description, requestHeaders = {} } = route;
  return applyDecorators(
    ApiTags(api.name === 'admin' ? (route.path.split('/')[1] ?? '') : api.title),
    ...securitySchemesOf(api).map((scheme) => ApiSecurity(scheme)),
    ApiOperation({ operationId, summary, description }),
    ...(api.name === 'admin' ? [ApiExtension('x-role', route.role)] : []),
    ...failuresOf(route).map(([kind, failure]) =>
      ApiResponse({
        status: KIND_STATUS[kind],
        type: route.plainErrors === true ? PlainErrorResponse : ErrorResponse,
        ...replyOf(failure),
      }),
    ),
    ...headersOf(requestHeaders),
    ...bodyOf(route),
    ...(route.csv === undefined ? [] : [ApiQuery(BOM)]),
    ...responsesOf(route),
  );
}

/** A partner sends its key in the header of either side. */
const securitySchemesOf = ({ name, keyHeader }: ApiContract): string[] =>
  name === 'admin' ? [ADMIN_SECURITY] : name === 'partner' ? [keyHeader, 'API-KEY'] : [keyHeader];

const headersOf = (headers: Readonly<Record<string, Header>>): MethodDecorator[] =>
  Object.entries(headers).map(([name, { description, schema }]) =>
    ApiHeader({ name, description, required: false, schema }),
  );

function bodyOf(route: ApiRoute): MethodDecorator[] {
  const { isBodyOptional, examples, upload } = route;
  const type = jsonBodyOf(route);
  if (type !== undefined) {
    return [ApiBody({ type, required: isBodyOptional !== true, ...(examples === undefined ? {} : { examples }) })];
  }
  if (upload === undefined) return [];
  return [
    ApiConsumes(upload.contentType),
    ApiBody({ schema: { type: 'string', format: 'binary', maxLength: upload.maxBytes } }),
  ];
}

function responsesOf(route: ApiRoute): MethodDecorator[] {
  const { status, response, variants = [], returns, file, isSecret, responseHeaders, notModified } = route;
  const { archive, csv, ndjson } = route;
  if (file !== undefined) return fileResponses(file);
  const headers = isSecret === true ? NO_STORE : responseHeaders;
  return [
    ...(variants.length === 0 ? [] : [ApiExtraModels(...variants)]),
    ...(response === undefined || (csv === undefined && ndjson !== true) ? [] : [ApiExtraModels(response)]),
    ApiResponse({
      status,
      description: returns,
      ...(response === undefined ? {} : contentOf(route, response)),
      ...(archive === undefined ? {} : { content: { [archive]: { schema: BINARY } } }),
      ...(headers === undefined ? {} : { headers: mutable(headers) }),
    }),
    ...(notModified === undefined
      ? []
      : [ApiResponse({ status: 304, description: notModified.description, headers: mutable(notModified.headers) })]),
  ];
}

const BOM = {
  name: BOM_PARAMETER,
  required: false,
  description: 'Of a CSV: begin with a byte order mark, by which spreadsheets recognise UTF-8',
  schema: { type: 'boolean' as const, default: false },
};

/** A page as JSON, or with `Accept` the whole list. */
function contentOf(route: ApiRoute, response: DtoClass) {
  const { ndjson } = route;
  const csv = csvFormOf(route);
  if (csv === undefined && ndjson !== true) return { type: response };
  return {
    content: {
      'application/json': { schema: { $ref: getSchemaPath(response) } },
      ...(csv === undefined ? {} : { [CSV_TYPE]: wholeList(csvDescription(csv)) }),
      ...(ndjson === true ? { [NDJSON_TYPE]: wholeList('each as JSON in a line of its own') } : {}),
    },
  };
}

const csvDescription = (csv: CsvForm): string =>
  `with the columns ${csvColumns(csv)
    .map(({ name }) => `\`${name}\``)
    .join(', ')}`;

const wholeList = (form: string) => ({
  schema: {
    type: 'string' as const,
    maxLength: Number.MAX_SAFE_INTEGER,
    description: `All elements from \`cursor\` on, ${form}`,
  },
});

function replyOf({ description, examples, headers }: Failure) {
  return {
    description,
    ...(headers === undefined ? {} : { headers: mutable(headers) }),
    ...(examples === undefined
      ? {}
      : {
          examples: Object.fromEntries(
            Object.entries(examples).map(([summary, error]) => [
              summary,
              { summary, value: { success: false, error } },
            ]),
          ),
        }),
  };
}

/** The documents are built from copies. */
const mutable = (headers: Readonly<Record<string, Header>>): NonNullable<ApiResponseOptions['headers']> =>
  structuredClone(headers);

const text = (maxLength: number) => ({ type: 'string' as const, maxLength });

const REQUEST_HEADERS = {
  Range: {
    description: 'A byte range, such as `bytes=0-1023`; the response to several ranges is the whole file',
    schema: text(255),
  },
  'If-Range': {
    description: 'The `ETag` of a partial download; if the file has changed, the response is the whole file',
    schema: text(255),
  },
  'If-None-Match': {
    description: 'The `ETag` of a stored copy; if the file has not changed, the response is 304 without a body',
    schema: text(255),
  },
};

const CONTENT_RANGE = {
  'Content-Range': { description: 'The range in the file, and the size of the file', schema: text(64) },
};

const BINARY = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };

/** The responses of a route that calls `sendFile`. */
function fileResponses(contentType: string): MethodDecorator[] {
  const content = { [contentType]: { schema: BINARY } };
  return [
    ...headersOf(REQUEST_HEADERS),
    ApiResponse({ status: 200, description: 'The file', content, headers: FILE_HEADERS }),
    ApiResponse({
      status: 206,
      description: 'A range of the file',
      content,
      headers: { ...FILE_HEADERS, ...CONTENT_RANGE },
    }),
    ApiResponse({ status: 304, description: 'The file has not changed', headers: FILE_HEADERS }),
  ];
}
