import { Get, Query, Req, type StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { HostedApi } from '../../auth/hosted-api.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { SITE_API, type SiteApi } from '../../contracts/site/site.api.js';
import { GetSitesQuery, GetSitesResponse } from '../../contracts/site/site.dto.js';
import { send, streamed } from '../../http/answer.js';
import { FailsWith } from '../../http/route-documentation.js';
import { ENCODING_HEADER, ETAG_HEADERS, IF_NONE_MATCH_HEADER } from './answer-headers.js';
import { HostedSiteApi } from './site-api.service.js';
import { siteCallerOf } from './site-caller.js';

@HostedApi(SITE_API)
export class HostedSitesController implements SiteApi<AuthenticatedRequest, StreamableFile | undefined> {
  constructor(private readonly sites: HostedSiteApi) {}

  @Get(SITE_API.routes.getSites.path)
  @ApiOperation({
    summary: "A hauler's sites, kiosks and materials",
    description: 'All active records of the hauler in a stable order. Answered compressed to who accepts gzip.',
  })
  @ApiHeader(IF_NONE_MATCH_HEADER)
  @ApiOkResponse({
    description: "The hauler's data",
    type: GetSitesResponse,
    headers: { ...ETAG_HEADERS, ...ENCODING_HEADER },
  })
  @ApiResponse({ status: 304, description: 'The data is still what `If-None-Match` names', headers: ETAG_HEADERS })
  @FailsWith({ notFound: 'There is no data of this hauler' })
  async getSites(@Query() { haulerId }: GetSitesQuery, @Req() call: AuthenticatedRequest) {
    const caller = siteCallerOf(call);
    const body = send(caller.response, await this.sites.getSites(haulerId, caller));
    return body === undefined ? undefined : streamed(caller.response, body);
  }
}
