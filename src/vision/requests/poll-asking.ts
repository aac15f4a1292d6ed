import { Injectable } from '@nestjs/common';
import { covers } from './covers.js';
import type { Part } from './parts.store.js';
import { PollAlone } from './poll-alone.js';
import { endsAskingAlone, endsRound } from './poll-failures.js';
import { PollList } from './poll-list.js';
import { type Asking, type Learnt, type Listed, progressOf, type Round } from './poll-round.js';
import { asksAlone } from './poll-schedule.js';

type Own = Pick<Round, 'learnt' | 'failure'>;

/** Calls of one round, not counting questions whose time has come: as many as the list of a thousand parts takes. */
const MOST_CALLS = 11;

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
   * One part is asked for by its id; several by the customer's list, and by their ids only when it is time, or where
   * the list may not show all of their clips. A failure of the partner ends the round; what was learnt before it
   * counts.
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
    const waiting = due.filter((part) => (listed.learnt.get(part)?.kind ?? 'some') === 'some');
    const rest = new Set([...waiting, ...doubtful(parts, listed)]);
    return roundOf(parts, listed, isOver(listed) ? NOT_ASKED : await this.askOneByOne(rest, asking));
  }

  /** After a failure: a list that always fails has the partner left alone, and must not be all that is tried then. */
  private async idsFirst(parts: readonly Part[], due: readonly Part[], asking: Asking): Promise<Round> {
    const own = await this.askOneByOne(due, asking);
    const rest = parts.filter((part) => !own.learnt.has(part));
    if (rest.length === 0 || isOver(own)) return roundOf(parts, NOT_LISTED, own);
    const listed = await this.list.ask(rest, asking);
    if (own.failure !== undefined || isOver(listed)) return roundOf(parts, listed, own);
    const { learnt, failure } = await this.askOneByOne(doubtful(rest, listed), asking);
    return roundOf(parts, listed, { learnt: new Map([...own.learnt, ...learnt]), failure });
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

const isOver = ({ failure }: Pick<Round, 'failure'>): boolean => failure !== undefined && endsRound(failure);

/**
 * Whether these clips are all is known by the part's own id alone. Asked for when some are first listed, or once the list
 * shows the whole range, as long as the round is not too long for it; then when it is time.
 */
const doubtful = (parts: readonly Part[], { learnt, pages }: Listed): Part[] =>
  parts
    .filter((part) => {
      const listed = learnt.get(part);
      if (listed?.kind !== 'some' || part.partnerRequestId === null) return false;
      return !part.hasClips || covers(listed.clips, part);
    })
    .slice(0, Math.max(0, MOST_CALLS - pages));

function roundOf(parts: readonly Part[], listed: Listed, own: Own): Round {
  const owns = [...own.learnt].map(
    ([part, learnt]) => [part, together(part, learnt, listed.learnt.get(part))] as const,
  );
  return {
    learnt: new Map([...listed.learnt, ...owns]),
    asked: new Set([...(listed.pages > 0 ? parts : []), ...own.learnt.keys()]),
    alone: new Set(own.learnt.keys()),
    nextPage: listed.nextPage,
    failure: own.failure ?? listed.failure,
  };
}

/**
 * What the list has shown is there, whatever the question by the part's own id has brought: a partner that lists clips of
 * it and finds nothing by its id looks for it wrongly.
 */
function together(part: Part, own: Learnt, listed: Learnt | undefined): Learnt {
  if (listed?.kind !== 'some' || own.kind === 'failed') return own;
  if (own.kind === 'clips' || own.kind === 'some') return { ...own, clips: [...listed.clips, ...own.clips] };
  return { ...own, kind: covers(listed.clips, part) ? 'clips' : 'some', clips: listed.clips };
}

/** A round that fails again may take minutes over it. */
function isTime(part: Part, { now, again }: Asking): boolean {
  const { asked, openMs } = progressOf(part, now);
  return asksAlone(now.getTime() - askedAt(part), { asked: asked + 1, openMs: again ? Infinity : openMs });
}

const askedAt = ({ askedAloneAt, submittedAt }: Part): number => (askedAloneAt ?? submittedAt)?.getTime() ?? 0;

const longestWaitFirst = (one: Part, other: Part): number => askedAt(one) - askedAt(other);
