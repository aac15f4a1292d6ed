import { Controller, Query, Req } from '@nestjs/common';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { Route } from '../../auth/route.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import { GetSitesQuery } from '../../contracts/site/site.dto.js';
import { send, streamed } from '../../http/answer.js';
import { ReferenceSiteApi } from './site-api.service.js';

@Controller()
export class ReferenceSiteController {
  constructor(private readonly sites: ReferenceSiteApi) {}

  @Route(SITE_API, 'getSites')
  async getSites(@Query() { haulerId }: GetSitesQuery, @Req() call: AuthenticatedRequest) {
    if (call.res === undefined) throw new Error('the request has no response');
    const body = send(call.res, await this.sites.getSites(haulerId, call));
    return body === undefined ? undefined : streamed(call.res, body);
  }
}
