import { Injectable } from '@nestjs/common';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../findings.js';
import { VisionClient } from '../vision.client.js';
import { disbelieved, matchVideos } from './match-video.js';
import type { Part } from './parts.store.js';
import { concernsQuestion, endsRound, isUnknown } from './poll-failures.js';
import { PollList } from './poll-list.js';
import { type Asking, type Learnt, type Listed, PAGE_SIZE, type Round } from './poll-round.js';
import { asksAlone } from './poll-schedule.js';

const NOT_LISTED: Listed = { learnt: new Map(), pages: 0, nextPage: 1, failure: undefined };

/** Asks a partner how the parts of one customer stand (decision 41). */
@Injectable()
export class PollAsking {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
    private readonly list: PollList,
  ) {}

  /**
   * One part is asked for by its id; several by the customer's list, and by their ids only when it is time. A failure of
   * the partner ends the round, and does not undo what was learnt before.
   */
  async ask(parts: readonly Part[], asking: Asking): Promise<Round> {
    const single = parts.length === 1 && parts[0]?.partnerRequestId != null;
    const listed = single ? NOT_LISTED : await this.list.ask(parts, asking);
    const over = listed.failure !== undefined && endsRound(listed.failure);
    const due = parts.filter(
      (part) =>
        !listed.learnt.has(part) && part.partnerRequestId !== null && (single || isTime(part, asking.now.getTime())),
    );
    const own = await this.askOneByOne(over ? [] : due, asking);
    return {
      learnt: new Map([...listed.learnt, ...own.learnt]),
      asked: new Set([...(listed.pages > 0 ? parts : []), ...own.learnt.keys()]),
      alone: new Set(own.learnt.keys()),
      nextPage: listed.nextPage,
      failure: own.failure ?? listed.failure,
    };
  }

  /** A failure that speaks of one part alone is what was learnt of it. */
  private async askOneByOne(parts: readonly Part[], asking: Asking): Promise<Pick<Round, 'learnt' | 'failure'>> {
    const learnt = new Map<Part, Learnt>();
    for (const part of parts) {
      try {
        learnt.set(part, await this.askAlone(part, asking));
      } catch (error) {
        if (!(error instanceof PartnerFailure)) throw error;
        const kind = isUnknown(error) ? 'unknown' : 'open';
        if (concernsQuestion(error)) learnt.set(part, { kind, reason: error.message });
        if (endsRound(error)) return { learnt, failure: error };
      }
    }
    return { learnt, failure: undefined };
  }

  private async askAlone(part: Part, { connection, signal }: Asking): Promise<Learnt> {
    const query = { customerId: part.customerId, requestId: part.partnerRequestId ?? '', pageSize: PAGE_SIZE };
    const { read } = await this.client.listVideos(query, { connection, signal });
    const strange = disbelieved([part], read.items).map(({ finding }) => finding);
    await this.findings.record(connection, [...read.findings, ...strange]);
    const clips = matchVideos([part], read.items).get(part);
    const { status, message } = read.request?.requestId === part.partnerRequestId ? (read.request ?? {}) : {};
    const said = message === undefined ? {} : { message };
    if (status === 'failed') return { kind: 'failed', ...said };
    if (clips !== undefined) return { kind: 'clips', clips, ...said };
    return { kind: 'open', ...(strange[0] === undefined ? {} : { reason: strange[0].reason }) };
  }
}

function isTime({ askedAloneAt, submittedAt, polls }: Part, now: number): boolean {
  const since = (askedAloneAt ?? submittedAt)?.getTime() ?? 0;
  const openMs = now - (submittedAt?.getTime() ?? 0);
  return asksAlone(now - since, { asked: polls + 1, openMs });
}
