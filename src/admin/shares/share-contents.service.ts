import { Injectable } from '@nestjs/common';
import { WeighedTickets } from '../../scale/weighed-tickets.js';
import { CatalogLists } from '../../site-sync/catalog/catalog-lists.service.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import type { SharedFacts } from './shared-page.js';
import type { OpenShare } from './shares.repository.js';

/** The recording, the ticket and the site of a link. */
@Injectable()
export class ShareContents {
  constructor(
    private readonly recordings: Recordings,
    private readonly tickets: WeighedTickets,
    private readonly catalog: CatalogLists,
  ) {}

  /** Undefined if the recording is gone. */
  async read(share: OpenShare): Promise<Pick<SharedFacts, 'recording' | 'ticket' | 'siteName'> | undefined> {
    const [recording] = await this.recordings.find([share.recording_id]);
    if (recording === undefined) return undefined;
    const ticket = share.ticket_id === null ? undefined : await this.tickets.contents(share.ticket_id);
    const siteName = ticket && (await this.siteName(share.hauler_id, ticket.siteId));
    return { recording, ticket, siteName };
  }

  private async siteName(haulerId: string, siteId: string): Promise<string | undefined> {
    return (await this.catalog.sites({ haulerId, siteId, pageSize: 1 })).data[0]?.name;
  }
}
