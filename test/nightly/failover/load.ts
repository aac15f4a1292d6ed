import { setTimeout as delay } from 'node:timers/promises';

const TICKETS = '/platform-api/v1/tickets';
const ACCOUNTS = '/platform-api/v1/accounts';
/** Of new elements; refused ones are sent again beside them, at most half as many. */
const PER_SECOND = 100;
const TICK_MS = 50;
/** One in so many elements is an account. */
const ACCOUNTS_EVERY = 10;
const RESEND_AFTER_MS = 1_000;
/** Longer than the service takes for any answer. */
const ANSWER_MS = 30_000;
/** On a machine that is too busy for the rate, elements are left out: those of a late timer, and beyond so many calls. */
const [MAX_LATE, MAX_UNANSWERED] = [20, 600];

export type Kind = 'tickets' | 'accounts';

interface Element {
  readonly kind: Kind;
  readonly ref: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Once it was acknowledged. */
  id: string | undefined;
  tries: number;
}

/** Times are those of `performance.now()`. */
export interface Answer {
  readonly instance: number;
  readonly at: number;
  readonly status: number;
}

export interface House {
  readonly key: string;
  readonly siteId: string;
  readonly materialId: string;
}

/** A partner that sends tickets and accounts at a fixed rate, whatever the answers are, and refused ones again. */
export class Load {
  readonly elements: Element[] = [];
  readonly answers: Answer[] = [];
  /** Answers that no partner should receive. */
  readonly wrong: string[] = [];
  private readonly refused: { readonly element: Element; readonly dueAt: number }[] = [];
  private readonly unanswered = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;
  private ticks = 0;
  private sent = 0;

  constructor(
    private readonly instances: readonly string[],
    private readonly house: House,
  ) {}

  start(): void {
    this.startedAt = performance.now();
    this.ticks = 0;
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** Sends what was refused until all is acknowledged. */
  async settle(withinMs: number): Promise<void> {
    clearInterval(this.timer);
    for (const end = performance.now() + withinMs; performance.now() < end && this.isOpen(); await delay(TICK_MS))
      this.sendRefused(20);
    await Promise.all(this.unanswered);
  }

  acknowledged(kind: Kind): Map<string, string> {
    return new Map(this.elements.flatMap((one) => (one.kind === kind && one.id ? [[one.ref, one.id]] : [])));
  }

  get open(): readonly string[] {
    return this.elements.filter(({ id }) => id === undefined).map(({ ref }) => ref);
  }

  private isOpen(): boolean {
    return this.unanswered.size > 0 || this.refused.length > 0;
  }

  private tick(): void {
    const all = Math.floor(((performance.now() - this.startedAt) / 1_000) * PER_SECOND) - this.ticks;
    this.ticks += all;
    const due = Math.min(all, MAX_LATE);
    for (let i = 0; i < due && this.unanswered.size < MAX_UNANSWERED; i++) {
      const element = this.make(this.elements.length);
      this.elements.push(element);
      this.send(element);
    }
    this.sendRefused(Math.ceil(due / 2));
  }

  private sendRefused(limit: number): void {
    for (
      let i = 0;
      i < limit && this.unanswered.size < MAX_UNANSWERED && (this.refused[0]?.dueAt ?? Infinity) <= performance.now();
      i++
    ) {
      const first = this.refused.shift();
      if (first !== undefined) this.send(first.element);
    }
  }

  /** A key or a ticket number makes the repetition of a ticket the same ticket (decisions 16 and 22). */
  private make(n: number): Element {
    const { siteId, materialId } = this.house;
    if (n % ACCOUNTS_EVERY === 0)
      return { kind: 'accounts', ref: `A${n}`, headers: {}, body: { accountName: `A${n}` }, id: undefined, tries: 0 };
    const ref = `T${n}`;
    const isKeyed = n % 3 === 0;
    const inboundFlow = { ticketNumber: ref, updatedAt: '2026-01-31T08:30:00Z' };
    const body = {
      siteId,
      materials: [{ id: materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
      customFields: { ref },
      ...(isKeyed ? {} : { inboundFlow }),
    };
    return { kind: 'tickets', ref, headers: isKeyed ? { 'Idempotency-Key': ref } : {}, body, id: undefined, tries: 0 };
  }

  private send(element: Element): void {
    const call = this.call(element, this.sent++ % this.instances.length).finally(() => this.unanswered.delete(call));
    this.unanswered.add(call);
  }

  private async call(element: Element, instance: number): Promise<void> {
    const sentAt = performance.now();
    element.tries++;
    const reply = await this.post(element, instance).catch(
      (error: Error) => `${error.message}: ${String(error.cause)}`,
    );
    const at = performance.now();
    if (typeof reply === 'string') this.wrong.push(`${element.ref}: no answer after ${at - sentAt} ms: ${reply}`);
    const { status = 0, id, retryAfter = '', text = '' } = typeof reply === 'string' ? {} : reply;
    this.answers.push({ instance, at, status });
    if (id !== undefined) {
      element.id = id;
      return;
    }
    this.refused.push({ element, dueAt: at + RESEND_AFTER_MS });
    if (status !== 0 && !(status === 503 && /^\d+$/.test(retryAfter)))
      this.wrong.push(`${element.ref}: ${status}, Retry-After ${retryAfter}: ${text}`);
  }

  private async post({ kind, headers, body }: Element, instance: number) {
    const response = await fetch((this.instances[instance] ?? '') + (kind === 'tickets' ? TICKETS : ACCOUNTS), {
      method: 'POST',
      headers: { 'PLATFORM-API-KEY': this.house.key, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await response.text();
    const { status } = response;
    const retryAfter = response.headers.get('Retry-After') ?? '';
    return { status, retryAfter, text, id: idOf(status, text) };
  }
}

/** An account whose first answer was lost is named by the 409. */
function idOf(status: number, text: string): string | undefined {
  if (status !== 200 && status !== 409) return undefined;
  const body = JSON.parse(text) as {
    disposalTicketId?: string;
    accountId?: string;
    error?: { details?: { accountId?: string } };
  };
  return body.disposalTicketId ?? body.accountId ?? body.error?.details?.accountId;
}
