import { Injectable } from '@nestjs/common';
import type { HistoryEntry } from '../../contracts/admin/history.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { PageQuery } from '../../contracts/common/pagination.dto.js';
import { ExchangeHistory, historyPage } from '../../exchanges/exchange-history.service.js';
import { ClipEventsRepository } from './clip-events.repository.js';
import { clipEntries } from './clip-history.rules.js';
import { VideoRequests } from './video-requests.service.js';

/** How a video request was submitted, polled and downloaded. */
@Injectable()
export class ClipHistory {
  constructor(
    private readonly requests: VideoRequests,
    private readonly events: ClipEventsRepository,
    private readonly exchanges: ExchangeHistory,
  ) {}

  /** Newest first. Steps are kept for good, calls as long as their exchanges. */
  async list(id: string, query: PageQuery): Promise<List<HistoryEntry>> {
    const { haulerId, recordingIds, createdAt } = await this.requests.get(id);
    const calls = await this.exchanges.find(haulerId, [
      { kind: 'videoRequestId', value: id },
      ...recordingIds.map((value) => ({ kind: 'recordingId', value }) as const),
    ]);
    const order: HistoryEntry = { at: createdAt, event: 'state', text: 'The video was requested.' };
    return historyPage([...clipEntries(await this.events.find(haulerId, id), calls), order], query);
  }
}
