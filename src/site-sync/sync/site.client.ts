import { Injectable } from '@nestjs/common';
import { SITE_API, type SiteApi } from '../../contracts/site/site.api.js';
import type { GetSitesQuery } from '../../contracts/site/site.dto.js';
import type { PartnerConnection } from '../../partner-client/partner-connection.js';
import type { StreamedAnswer } from '../../partner-client/partner-answer.js';
import { PartnerClient } from '../../partner-client/partner-client.js';

export interface SiteCall {
  readonly connection: PartnerConnection;
  /** An admin waits for this call: the partner is called although its circuit is open. */
  readonly requested: boolean;
  readonly signal: AbortSignal;
  /** Reads the answer, which has the status 200, or 404 if the partner has no data of this hauler. */
  readonly read: (answer: StreamedAnswer) => Promise<void>;
}

/** Calls the Site API of a partner (section 4.3). */
@Injectable()
export class SiteClient implements SiteApi<SiteCall, void> {
  constructor(private readonly partners: PartnerClient) {}

  /** Throws `PartnerFailure`. */
  getSites({ haulerId }: GetSitesQuery, { connection, requested, signal, read }: SiteCall): Promise<void> {
    const call = {
      api: SITE_API,
      route: SITE_API.routes.getSites,
      query: { haulerId },
      accept: [200, 404],
      breaker: !requested,
      signal,
    };
    return this.partners.stream(connection, call, read);
  }
}
