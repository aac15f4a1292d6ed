import { Injectable } from '@nestjs/common';
import { SITE_API, type SiteApi } from '../contracts/site/site.api.js';
import type { GetSitesQuery } from '../contracts/site/site.dto.js';
import type { PartnerAnswer } from '../partner-client/partner-answer.js';
import { PartnerClient } from '../partner-client/partner-client.js';
import type { PartnerConnection } from '../partner-client/partner-connection.js';
import type { Place } from '../partner-client/places.js';

/** Through which connection a partner is asked, and what of it is known already. */
export interface SiteCall {
  readonly connection: PartnerConnection;
  readonly ifNoneMatch: string | undefined;
  /** An admin waits for this call: it is made even if the partner was down a moment ago. */
  readonly requested: boolean;
  readonly signal: AbortSignal;
  /** Among those who may hold an answer in memory: taken during the call where the answer is large, and left by the caller. */
  readonly place: Place;
}

/** Calls a partner's side of the Site API (section 4.3). */
@Injectable()
export class SiteClient implements SiteApi<SiteCall, PartnerAnswer> {
  constructor(private readonly partners: PartnerClient) {}

  /** 200 with the data, 304 where it is what `ifNoneMatch` names, 404 where the partner has none; else a `PartnerFailure`. */
  getSites(
    { haulerId }: GetSitesQuery,
    { connection, ifNoneMatch, requested, signal, place }: SiteCall,
  ): Promise<PartnerAnswer> {
    return this.partners.call(connection, {
      api: SITE_API,
      route: SITE_API.routes.getSites,
      query: { haulerId },
      signal,
      place,
      breaker: !requested,
      accept: ifNoneMatch === undefined ? [200, 404] : [200, 304, 404],
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    });
  }
}
