import { Get, Query, Req, type StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { ServedApi } from '../../auth/served-api.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { SITE_API, type SiteApi } from '../../contracts/site/site.api.js';
import { GetSitesQuery, GetSitesResponse } from '../../contracts/site/site.dto.js';
import { send, streamed } from '../../http/answer.js';
import { FailsWith } from '../../http/route-documentation.js';
import { ReferenceSiteApi } from './site-api.service.js';

const IF_NONE_MATCH_HEADER = {
  name: 'If-None-Match',
  required: false,
  description:
    'The `ETag` of an earlier response. If the data has not changed since, the response is 304 without a body',
  schema: { type: 'string' as const, maxLength: 8192, example: 'W/"2c26b46b68ffc68ff99b453c1d304134"' },
};

const ETAG_HEADERS = {
  ETag: {
    description: 'Identifies this state of the data',
    schema: { type: 'string' as const, maxLength: 128, example: 'W/"2c26b46b68ffc68ff99b453c1d304134"' },
  },
  Vary: {
    description: 'The request header that decides whether the response is compressed',
    schema: { type: 'string' as const, enum: ['Accept-Encoding'] },
  },
};

const ENCODING_HEADER = {
  'Content-Encoding': {
    description: 'Present if the response is compressed, as `Accept-Encoding` allows',
    schema: { type: 'string' as const, maxLength: 16, example: 'gzip' },
  },
};

@ServedApi(SITE_API)
export class ReferenceSiteController implements SiteApi<AuthenticatedRequest, StreamableFile | undefined> {
  constructor(private readonly sites: ReferenceSiteApi) {}

  @Get(SITE_API.routes.getSites.path)
  @ApiOperation({
    summary: "A hauler's sites, kiosks and materials",
    description:
      'All active records of the hauler in a stable order. The response is compressed for callers that accept gzip.',
  })
  @ApiHeader(IF_NONE_MATCH_HEADER)
  @ApiOkResponse({
    description: "The hauler's data",
    type: GetSitesResponse,
    headers: { ...ETAG_HEADERS, ...ENCODING_HEADER },
  })
  @ApiResponse({
    status: 304,
    description: 'The data is unchanged since the response that `If-None-Match` names',
    headers: ETAG_HEADERS,
  })
  @FailsWith({ notFound: 'This hauler has no data' })
  async getSites(@Query() { haulerId }: GetSitesQuery, @Req() call: AuthenticatedRequest) {
    if (call.res === undefined) throw new Error('the request has no response');
    const body = send(call.res, await this.sites.getSites(haulerId, call));
    return body === undefined ? undefined : streamed(call.res, body);
  }
}
