/** How the documents tell of the headers of site data: decision 37's, and what caches and compression add. */
export const IF_NONE_MATCH_HEADER = {
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of an earlier answer; where nothing has changed since, the answer is 304 without a body',
  schema: { type: 'string' as const, maxLength: 8192, example: 'W/"2c26b46b68ffc68ff99b453c1d304134"' },
};

export const ETAG_HEADERS = {
  ETag: {
    description: 'Names this state of the data',
    schema: { type: 'string' as const, maxLength: 128, example: 'W/"2c26b46b68ffc68ff99b453c1d304134"' },
  },
  'Cache-Control': {
    description: 'An answer may be kept by its caller alone, who asks with its `ETag` whether it still holds',
    schema: { type: 'string' as const, maxLength: 255 },
  },
  Vary: {
    description: 'The request header that decides whether the answer is compressed',
    schema: { type: 'string' as const, enum: ['Accept-Encoding'] },
  },
};

export const ENCODING_HEADER = {
  'Content-Encoding': {
    description: 'Present where the answer is compressed, as `Accept-Encoding` allows',
    schema: { type: 'string' as const, maxLength: 16, example: 'gzip' },
  },
};
