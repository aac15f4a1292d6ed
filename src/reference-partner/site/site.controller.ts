import { Controller, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Route } from '../../auth/route.js';
import { GetSitesQuery, SITE_API } from '../../contracts/site/site.api.js';
import { send, streamed } from '../../core/http/answer.js';
import { ReferenceSiteApi } from './site-api.service.js';

@Controller()
export class ReferenceSiteController {
  constructor(private readonly sites: ReferenceSiteApi) {}

  @Route(SITE_API, 'getSites')
  async getSites(@Query() { haulerId }: GetSitesQuery, @Req() request: Request) {
    if (request.res === undefined) throw new Error('the request has no response');
    const body = send(request.res, await this.sites.getSites(haulerId, request));
    return body === undefined ? undefined : streamed(request.res, body);
  }
}
