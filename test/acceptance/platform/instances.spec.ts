import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { flow, Hauler, ONE_SITE, type Plain, TICKET } from '../support/hauler.js';
import { type Answered, countOf, postAs, POSTS } from '../support/posts.js';
import { startOwnService } from '../support/service.js';
import { listed, type Service } from '../support/target.js';

const [SCALE, ACCOUNT] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];

let instances: [Service, Service];
beforeAll(async () => {
  const first = await startOwnService();
  instances = [first, await startOwnService({ beside: first })];
});

const newHauler = () => Hauler.create({ sites: ONE_SITE, service: instances[0] });

/** All at once, every second one to the other instance. */
const sendAll = (hauler: Hauler, post: typeof SCALE, bodies: readonly unknown[], headers = {}): Promise<Answered[]> =>
  Promise.all(bodies.map((body, i) => postAs(hauler, post, body, headers, instances[i % 2])));

const resultsOf = (replies: readonly Answered[]) =>
  replies.map(({ status, headers }) => headers.get('ticket-result') ?? String(status));
const ticketsOf = ({ id }: Hauler) => listed<Plain>(`/tickets?haulerId=${id}`, instances[0]);
const withContents = (more: Plain, contents: string) => ({ ...TICKET, ...more, customFields: { contents } });

describe('concurrent pushes on two instances', () => {
  test('50 of one flow are one ticket in the newest state, which one of them created (decision 26)', async () => {
    const hauler = await newHauler();
    const minutes = Array.from({ length: 50 }, (_, i) => (i * 37) % 50);
    const replies = await sendAll(
      hauler,
      SCALE,
      minutes.map((minute) => withContents({ inboundFlow: flow('A', minute) }, `of ${minute}`)),
    );
    expect(new Set(replies.map(({ body }) => body['disposalTicketId'])).size).toBe(1);
    const results = resultsOf(replies);
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
    expect(results.filter((result) => !['created', 'updated', 'stale'].includes(result))).toEqual([]);
    expect(await ticketsOf(hauler)).toMatchObject([{ customFields: { contents: 'of 49' } }]);
  });

  test('50 times the same push: one creates the ticket, and the others are unchanged (decisions 21, 26)', async () => {
    const hauler = await newHauler();
    const same = { ...TICKET, inboundFlow: flow('A'), outboundFlow: flow('X') };
    const results = resultsOf(await sendAll(hauler, SCALE, Array<Plain>(50).fill(same)));
    expect(results.sort()).toEqual(['created', ...Array<string>(49).fill('unchanged')]);
  });

  test('50 without a flow are 50 tickets (decisions 22, 26)', async () => {
    const hauler = await newHauler();
    const replies = await sendAll(hauler, SCALE, Array<Plain>(50).fill(TICKET));
    expect(new Set(replies.map(({ body }) => body['disposalTicketId'])).size).toBe(50);
  });

  interface Push {
    readonly inbound: number;
    readonly outbound?: readonly [ticketNumber: string, minute: number] | undefined;
  }
  /** Pushes of one ticket that may rename its outbound flow. No two flows are equally new. */
  const pushesOfOneTicket: fc.Arbitrary<Push[]> = fc
    .uniqueArray(fc.nat(59), { minLength: 6, maxLength: 14 })
    .chain((minutes) =>
      fc.tuple(
        ...Array.from({ length: minutes.length >> 1 }, (_, i) =>
          fc.option(fc.constantFrom('X', 'Y', 'Z'), { nil: undefined }).map((number): Push => ({
            inbound: minutes[2 * i] ?? 0,
            outbound: number === undefined ? undefined : [number, minutes[2 * i + 1] ?? 0],
          })),
        ),
      ),
    );
  const newest = <T>(values: readonly T[], minute: (value: T) => number) =>
    values.toSorted((a, b) => minute(b) - minute(a))[0];

  test('pushes of one ticket have the same state in any order: each register is won by its newest (decisions 20, 21, 26)', async () => {
    const property = fc.asyncProperty(pushesOfOneTicket, async (pushes) => {
      const hauler = await newHauler();
      const replies = await sendAll(
        hauler,
        SCALE,
        pushes.map(({ inbound, outbound }, i) =>
          withContents(
            { inboundFlow: flow('A', inbound), ...(outbound && { outboundFlow: flow(...outbound) }) },
            `${i}`,
          ),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual(pushes.map(() => 200));
      const version = ({ inbound, outbound }: Push) => Math.max(inbound, outbound?.[1] ?? 0);
      const contents = newest([...pushes.keys()], (i) => version(pushes[i] as Push));
      const outbound = newest(
        pushes.flatMap((push) => (push.outbound ? [push.outbound] : [])),
        ([, minute]) => minute,
      );
      const [ticket, ...others] = await ticketsOf(hauler);
      expect(others).toEqual([]);
      expect(ticket).toMatchObject({ customFields: { contents: String(contents) } });
      expect((ticket?.['outboundFlow'] as Plain | undefined)?.['ticketNumber']).toBe(outbound?.[0]);
    });
    await fc.assert(property, { numRuns: 12, seed: 26 });
  });

  const someFlow = (numbers: string[]) =>
    fc.option(fc.tuple(fc.constantFrom(...numbers), fc.nat(5)), { nil: undefined, freq: 3 });
  const anyPushes = fc.array(fc.record({ inbound: someFlow(['A', 'B', 'C']), outbound: someFlow(['A', 'X', 'Y']) }), {
    minLength: 2,
    maxLength: 14,
  });

  test('any pushes: no flow belongs to two tickets, and every answer is in the history (decisions 20, 23, 26)', async () => {
    const property = fc.asyncProperty(anyPushes, async (pushes) => {
      const hauler = await newHauler();
      const bodies = pushes.map(({ inbound, outbound }, i) =>
        withContents(
          { ...(inbound && { inboundFlow: flow(...inbound) }), ...(outbound && { outboundFlow: flow(...outbound) }) },
          String(i % 2),
        ),
      );
      const results = resultsOf(await sendAll(hauler, SCALE, bodies));
      const kept = results.filter((result) => ['created', 'updated', 'stale'].includes(result));
      expect(results.filter((result) => !['unchanged', '422', ...kept].includes(result))).toEqual([]);
      const tickets = await ticketsOf(hauler);
      for (const direction of ['inboundFlow', 'outboundFlow']) {
        const numbers = tickets.flatMap((ticket) => (ticket[direction] as Plain | undefined)?.['ticketNumber'] ?? []);
        expect(new Set(numbers).size).toBe(numbers.length);
      }
      const histories = await Promise.all(
        tickets.map(({ id }) => listed<Plain>(`/tickets/${String(id)}/revisions`, instances[1])),
      );
      expect(
        histories
          .flat()
          .map(({ result }) => result)
          .sort(),
      ).toEqual(kept.sort());
    });
    await fc.assert(property, { numRuns: 12, seed: 26 });
  });

  test('a number that one push releases and another takes moves on: nobody is refused (decisions 20, 26)', async () => {
    const hauler = await newHauler();
    const tickets = Array.from({ length: 15 }, (_, i) => i);
    const push = (inbound: string, outbound: string | undefined, minute: number) => ({
      ...TICKET,
      inboundFlow: flow(inbound, minute),
      ...(outbound === undefined ? {} : { outboundFlow: flow(outbound, minute) }),
    });
    await sendAll(
      hauler,
      SCALE,
      tickets.map((i) => push(`A${i}`, `X${i}`, 1)),
    );
    for (const round of [1, 2]) {
      const renames = tickets.map((i) => push(`B${round}-${i}`, `X${i}`, 1 + round));
      const takes = tickets.map((i) => push(round === 1 ? `A${i}` : `B1-${i}`, undefined, 20));
      const replies = await sendAll(
        hauler,
        SCALE,
        tickets.flatMap((i) => [renames[i], takes[i]]),
      );
      expect(resultsOf(replies).filter((result) => /^\d/.test(result))).toEqual([]);
    }
  });
});

describe('concurrent accounts on two instances', () => {
  test('30 with one name are one account, and 29 answers of 409 name it (decisions 27, 28)', async () => {
    const hauler = await newHauler();
    const names = Array.from({ length: 30 }, (_, i) => ['One Name', ' ONE  NAME', 'one\tname '][i % 3]);
    const replies = await sendAll(
      hauler,
      ACCOUNT,
      names.map((accountName) => ({ accountName })),
    );
    const [winner, ...others] = replies.toSorted((a, b) => a.status - b.status);
    expect([winner?.status, ...others.map(({ status }) => status)]).toEqual([200, ...Array<number>(29).fill(409)]);
    for (const { body } of others) expect(body.error.details?.['accountId']).toBe(winner?.body['accountId']);
    expect(await countOf(hauler, ACCOUNT)).toBe(1);
  });

  test('30 with one name and 30 keys have the same answers again (decisions 16, 27)', async () => {
    const hauler = await newHauler();
    const send = () =>
      Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          postAs(hauler, ACCOUNT, { accountName: 'Keyed' }, { 'Idempotency-Key': `k-${i}` }, instances[i % 2]),
        ),
      );
    const [first, again] = [await send(), await send()];
    expect(first.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(again.map(({ status, text }) => [status, text])).toEqual(first.map(({ status, text }) => [status, text]));
  });
});

describe.each(POSTS)('one Idempotency-Key on two instances, POST $path', (post) => {
  test('30 at once: one does the work, and the others get its answer (decision 16)', async () => {
    const hauler = await newHauler();
    const replies = await sendAll(hauler, post, Array<Plain>(30).fill(post.body()), { 'Idempotency-Key': 'shared' });
    expect(replies.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await countOf(hauler, post)).toBe(1);
  });
});

test('a record that one instance has synchronised is known to the other (decision 24)', async () => {
  const hauler = await Hauler.create({ service: instances[0] });
  expect((await postAs(hauler, SCALE, TICKET, {}, instances[1])).status).toBe(422);
  await hauler.sync(ONE_SITE);
  expect((await postAs(hauler, SCALE, TICKET, {}, instances[1])).status).toBe(200);
});
