import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiResponse } from '@nestjs/swagger';

/** How the documents tell of `sendFile`. */

const text = (maxLength: number) => ({ type: 'string' as const, maxLength });

const OF_FILES = {
  ETag: { description: 'Names these bytes; it is the same for as long as they are', schema: text(128) },
  'Accept-Ranges': {
    description: 'Parts may be asked for',
    schema: { type: 'string' as const, enum: ['bytes'] },
  },
  'Cache-Control': { description: 'Who may keep the bytes, and that nobody changes them', schema: text(255) },
};

const CONTENT_RANGE = {
  'Content-Range': { description: 'Which bytes these are, and of how many', schema: text(64) },
};

const REQUEST_HEADERS = {
  Range: 'The bytes that are wanted, such as `bytes=0-1023`; of several parts the whole file is sent',
  'If-Range': 'The `ETag` of the part that is there; where the file is another by now, the whole of it is sent',
  'If-None-Match': 'The `ETag` of the file that is there; where it is the same, the answer is 304 without a body',
};

/** What a range that is no part of the file is answered with. */
export const OUT_OF_RANGE = {
  description: 'The range is malformed, or lies outside of the file',
  headers: { ...OF_FILES, 'Content-Range': { description: 'How many bytes there are', schema: text(64) } },
};

/** Stands above a route that answers with `sendFile`. */
export function SendsFile(contentType: string): MethodDecorator {
  const schema = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };
  const content = { [contentType]: { schema } };
  return applyDecorators(
    ...Object.entries(REQUEST_HEADERS).map(([name, description]) =>
      ApiHeader({ name, description, required: false, schema: text(255) }),
    ),
    ApiOkResponse({ description: 'The file', content, headers: OF_FILES }),
    ApiResponse({ status: 206, description: 'A part of it', content, headers: { ...OF_FILES, ...CONTENT_RANGE } }),
    ApiResponse({ status: 304, description: 'It is still what `If-None-Match` names', headers: OF_FILES }),
  );
}
