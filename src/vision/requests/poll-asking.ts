import { Injectable } from '@nestjs/common';
import type { Part } from './parts.store.js';
import { PollAlone } from './poll-alone.js';
import { endsAskingAlone, endsRound } from './poll-failures.js';
import { PollList } from './poll-list.js';
import { type Asking, type Learnt, type Listed, progressOf, type Round } from './poll-round.js';
import { asksAlone } from './poll-schedule.js';

type Own = Pick<Round, 'learnt' | 'failure'>;

const NOT_ASKED: Own = { learnt: new Map(), failure: undefined };
const NOT_LISTED: Listed = { learnt: new Map(), pages: 0, nextPage: 1, failure: undefined };

/** Asks a partner how the parts of one customer stand (decision 41). */
@Injectable()
export class PollAsking {
  constructor(
    private readonly list: PollList,
    private readonly alone: PollAlone,
  ) {}

  /**
   * One part is asked for by its id; several by the customer's list, and by their ids only when it is time, or when the
   * list first shows some clips of theirs. A failure of the partner ends the round, and does not undo what was learnt before.
   */
  async ask(parts: readonly Part[], asking: Asking): Promise<Round> {
    const [first] = parts;
    if (parts.length === 1 && first?.partnerRequestId != null) {
      return roundOf(parts, NOT_LISTED, await this.askOneByOne(parts, asking));
    }
    const due = parts.filter((part) => part.partnerRequestId !== null && isTime(part, asking)).sort(longestWaitFirst);
    return asking.again ? this.idsFirst(parts, due, asking) : this.listFirst(parts, due, asking);
  }

  private async listFirst(parts: readonly Part[], due: readonly Part[], asking: Asking): Promise<Round> {
    const listed = await this.list.ask(parts, asking);
    const over = listed.failure !== undefined && endsRound(listed.failure);
    const waiting = due.filter((part) => (listed.learnt.get(part)?.kind ?? 'some') === 'some');
    const rest = new Set([...waiting, ...parts.filter((part) => isBegun(part, listed.learnt.get(part)))]);
    return roundOf(parts, listed, over ? NOT_ASKED : await this.askOneByOne(rest, asking));
  }

  /** After a failure: a list that always fails has the partner left alone, and must not be all that is tried then. */
  private async idsFirst(parts: readonly Part[], due: readonly Part[], asking: Asking): Promise<Round> {
    const own = await this.askOneByOne(due, asking);
    const rest = parts.filter((part) => !own.learnt.has(part));
    const over = rest.length === 0 || (own.failure !== undefined && endsRound(own.failure));
    return roundOf(parts, over ? NOT_LISTED : await this.list.ask(rest, asking), own);
  }

  private async askOneByOne(parts: Iterable<Part>, asking: Asking): Promise<Own> {
    const learnt = new Map<Part, Learnt>();
    for (const part of parts) {
      const { learnt: own, failure } = await this.alone.ask(part, asking);
      if (own !== undefined) learnt.set(part, own);
      if (failure !== undefined && endsAskingAlone(failure)) return { learnt, failure };
    }
    return { learnt, failure: undefined };
  }
}

/** Of which some clips are listed for the first time: whether these are all is known by its own id alone. */
const isBegun = ({ hasClips, partnerRequestId }: Part, listed: Learnt | undefined): boolean =>
  listed?.kind === 'some' && !hasClips && partnerRequestId !== null;

function roundOf(parts: readonly Part[], listed: Listed, own: Own): Round {
  const owns = [...own.learnt].map(([part, learnt]) => [part, withClips(learnt, listed.learnt.get(part))] as const);
  return {
    learnt: new Map([...listed.learnt, ...owns]),
    asked: new Set([...(listed.pages > 0 ? parts : []), ...own.learnt.keys()]),
    alone: new Set(own.learnt.keys()),
    nextPage: listed.nextPage,
    failure: own.failure ?? listed.failure,
  };
}

/** What the list has shown is there, also where the question by the part's own id brought nothing. */
function withClips(own: Learnt, listed: Learnt | undefined): Learnt {
  if (listed?.kind !== 'some' || (own.kind !== 'open' && own.kind !== 'unknown')) return own;
  return { ...own, kind: 'some', clips: listed.clips };
}

/** A round that fails again may take minutes over it. */
function isTime(part: Part, { now, again }: Asking): boolean {
  const { asked, openMs } = progressOf(part, now);
  return asksAlone(now.getTime() - askedAt(part), { asked: asked + 1, openMs: again ? Infinity : openMs });
}

const askedAt = ({ askedAloneAt, submittedAt }: Part): number => (askedAloneAt ?? submittedAt)?.getTime() ?? 0;

const longestWaitFirst = (one: Part, other: Part): number => askedAt(one) - askedAt(other);
