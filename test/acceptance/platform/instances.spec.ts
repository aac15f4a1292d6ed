import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import fc from '../../support/fast-check.js';
import { serveFile } from '../../support/file-host.js';
import type { Reply } from '../../support/http.js';
import { sampleVideo } from '../../support/sample-video.js';
import { after, json } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists } from '../../support/scripted-vision.js';
import { siteData } from '../../support/site-data.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, type Plain, SITES_ROUTE, TICKET } from '../support/hauler.js';
import { INVALID, issueKey, type Key, openedBy, rotateKey, shownKey, VALID } from '../support/keys.js';
import { type Answered, countOf, postAs, POSTS } from '../support/posts.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, call, listed } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

const [SCALE, ACCOUNT] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];

const AT_ONCE = 2;
const FILES = 8;
const ENV = { DOWNLOAD_CONCURRENCY_PER_CONNECTION: String(AT_ONCE), SHUTDOWN_GRACE: '3s' };

let instances: [OwnService, OwnService];
beforeAll(async () => {
  const first = await startOwnService({ env: ENV });
  instances = [first, await startOwnService({ env: ENV, beside: first })];
}, 120_000);

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

test('a cursor of one instance goes on at another (decision 43)', async () => {
  for (let i = 0; i < 3; i++) await newHauler();
  interface Page {
    readonly data: readonly { readonly id: string }[];
    readonly pagination: { readonly next: string | null };
  }
  const all = await listed<{ id: string }>('/haulers', instances[0]);
  const shown: string[] = [];
  let next: string | null = '';
  for (let i = 0; next !== null; i++) {
    const path: string = next === '' ? '/haulers?pageSize=1' : `/haulers?pageSize=1&cursor=${next}`;
    const { status, body }: Reply<Page> = await admin<Page>('GET', path, undefined, instances[i % 2]);
    expect(status).toBe(200);
    shown.push(...body.data.map(({ id }) => id));
    next = body.pagination.next;
  }
  expect(shown).toEqual(all.map(({ id }) => id));
});

describe('keys on two instances', () => {
  const DAY = 86_400;
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create({ service: instances[0] });
  });

  const secondsLeft = ({ expiresAt }: Key): number => (Date.parse(expiresAt ?? '') - Date.now()) / 1_000;
  const both = ({ key }: Key) => Promise.all(instances.map((instance) => openedBy(key, instance)));
  /** The promise is 5 s. */
  const endsEverywhere = (key: Key) =>
    eventually(async () => expect(await both(key)).toEqual([INVALID, INVALID]), 5_000);

  test('a key opens as soon as it is issued, and its revocation takes effect within 5 s (decision 17)', async () => {
    const key = await issueKey(hauler);
    expect(await both(key)).toEqual([VALID, VALID]);
    expect((await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[0])).status).toBe(204);
    expect(await openedBy(key.key, instances[0])).toBe(INVALID);
    await endsEverywhere(key);
    const { revokedAt } = await shownKey(hauler, key);
    expect((await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[1])).status).toBe(204);
    expect((await shownKey(hauler, key)).revokedAt).toBe(revokedAt);
  });

  test('a key opens nothing after its expiry (decision 17)', async () => {
    const key = await issueKey(hauler, { expiresAt: new Date(Date.now() + 2_000).toISOString() });
    expect(await both(key)).toEqual([VALID, VALID]);
    await eventually(async () => expect(await both(key)).toEqual([INVALID, INVALID]), 30_000);
    expect(secondsLeft(await shownKey(hauler, key))).toBeLessThanOrEqual(0);
    expect((await admin('POST', `/api-keys/${key.id}/rotate`, undefined, instances[0])).status).toBe(409);
  });

  test('the new key of a rotation is dormant; from its first use the old one lives for the overlap (decision 17)', async () => {
    const old = await issueKey(hauler, { name: 'Gate', expiresAt: '2099-01-01T00:00:00Z' });
    const next = await rotateKey(hauler, old, { overlapSeconds: 2 });
    expect(next).toMatchObject({
      haulerId: hauler.id,
      interfaces: ['account'],
      name: 'Gate',
      expiresAt: old.expiresAt,
    });
    expect(next.key).not.toBe(old.key);
    expect(await both(old)).toEqual([VALID, VALID]);
    expect((await shownKey(hauler, old)).expiresAt).toBe(old.expiresAt);
    expect(await both(next)).toEqual([VALID, VALID]);
    expect(secondsLeft(await shownKey(hauler, old))).toBeLessThanOrEqual(2);
    await eventually(async () => expect(await both(old)).toEqual([INVALID, INVALID]), 30_000);
    expect(await both(next)).toEqual([VALID, VALID]);
  });

  test.each([
    ['a day by default', undefined, DAY],
    ['the chosen hour', { overlapSeconds: 3_600 }, 3_600],
    ['seven days at most', { overlapSeconds: 7 * DAY }, 7 * DAY],
  ])('the overlap is %s (decision 17)', async (_, body, seconds) => {
    const old = await issueKey(hauler);
    const next = await rotateKey(hauler, old, body);
    expect(await openedBy(next.key, instances[1])).toBe(VALID);
    const left = secondsLeft(await shownKey(hauler, old));
    expect([left > seconds - 60, left <= seconds + 1]).toEqual([true, true]);
  });

  test('an overlap of 0 ends the old key with the first use of the new one (decision 17)', async () => {
    const old = await issueKey(hauler);
    expect(await both(old)).toEqual([VALID, VALID]);
    const next = await rotateKey(hauler, old, { overlapSeconds: 0 });
    expect(await openedBy(next.key, instances[0])).toBe(VALID);
    await endsEverywhere(old);
  });

  test('a key that is activated on both instances at once has one overlap (decision 17)', async () => {
    const old = await issueKey(hauler);
    const next = await rotateKey(hauler, old, { overlapSeconds: 60 });
    await Promise.all(Array.from({ length: 10 }, () => both(next)));
    const { expiresAt } = await shownKey(hauler, old);
    expect(await both(next)).toEqual([VALID, VALID]);
    expect((await shownKey(hauler, old)).expiresAt).toBe(expiresAt);
  });

  test('a second rotation before the first use replaces the dormant key, also of several at once (decision 17)', async () => {
    const old = await issueKey(hauler);
    const keys = await Promise.all(Array.from({ length: 5 }, () => rotateKey(hauler, old)));
    const states = await Promise.all(keys.map((key) => shownKey(hauler, key)));
    expect(states.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    const last = await rotateKey(hauler, old);
    expect(await Promise.all(keys.map(({ key }) => openedBy(key, instances[0])))).toEqual(keys.map(() => INVALID));
    expect([await both(old), await both(last)]).toEqual([
      [VALID, VALID],
      [VALID, VALID],
    ]);
  });

  test('a revoked key is not rotated, and a wrong overlap is refused (decision 17)', async () => {
    const key = await issueKey(hauler);
    for (const overlapSeconds of [-1, 7 * DAY + 1, 1.5, '60', true]) {
      const reply = await admin<ErrorBody>('POST', `/api-keys/${key.id}/rotate`, { overlapSeconds }, instances[0]);
      const paths = reply.body.error.details?.violations?.map(({ path }) => path);
      expect([overlapSeconds, reply.status, paths]).toEqual([overlapSeconds, 400, ['overlapSeconds']]);
    }
    await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[0]);
    const refused = await admin<ErrorBody>('POST', `/api-keys/${key.id}/rotate`, undefined, instances[0]);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('work of the background on two instances', () => {
  test('a connection is synchronised by one instance at a time, however many ask for it (decision 36)', async () => {
    const hauler = await Hauler.create({ service: instances[0] });
    const { partner, connectionId } = await hauler.siteConnection();
    let [open, most] = [0, 0];
    const answer = after(200, json({ success: true, data: siteData(1, 1, 4) }));
    partner.on(SITES_ROUTE, (response, request) => {
      most = Math.max(most, ++open);
      response.once('close', () => (open -= 1));
      answer(response, request);
    });
    const path = `/connections/${connectionId}/sync`;
    const asked = await Promise.all(
      [...instances, ...instances].map((service) => admin<{ runId: string }>('POST', path, undefined, service)),
    );
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 202));
    const runs = [...new Set(asked.map(({ body }) => body.runId))];
    const ended = await Promise.all(runs.map((runId) => hauler.at(instances[1]).ended(runId)));
    expect(ended.map(({ status }) => status)).toEqual(runs.map(() => 'succeeded'));
    expect([most, partner.asked.length]).toEqual([1, runs.length]);
  });

  test('a connection is downloaded from by one instance, within its limit, and each file once (decision 47)', async () => {
    const scene = await VisionScene.create({ service: instances[0] });
    let [open, most] = [0, 0];
    const chunks = Array.from({ length: FILES }, (_, n) => {
      const body = sampleVideo(20_000);
      const downloadUrl = scene.partner.link(body, (request, response) => {
        most = Math.max(most, ++open);
        response.once('close', () => (open -= 1));
        void delay(150).then(() => serveFile(body)(request, response));
      });
      return element({ startTime: inHours(-3 + n / 10), endTime: inHours(-3 + (n + 1) / 10), downloadUrl });
    });
    scene.partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await scene.follow({ startTime: inHours(-4) });
    await eventually(async () => {
      const all = await listed<ShownRecording>(`/recordings?connectionId=${scene.connectionId}`, instances[1]);
      expect(all.map(({ status }) => status)).toEqual(chunks.map(() => 'stored'));
    });
    expect([most, scene.partner.fetched.length]).toEqual([AT_ONCE, FILES]);
  });

  /** The last case of the file. */
  test('an instance that stops hands its work over at once, and ends with 0 (decision 62)', async () => {
    const scene = await VisionScene.create({ service: instances[0] });
    const body = sampleVideo(20_000);
    const asked: number[] = [];
    const downloadUrl = scene.partner.link(body, (request, response) => {
      asked.push(performance.now());
      if (asked.length > 1) return serveFile(body)(request, response);
      response.writeHead(200, { 'Content-Length': body.length });
      response.write(body.subarray(0, 10_000));
    });
    const chunk = element({ startTime: inHours(-3), endTime: inHours(-2.9), downloadUrl });
    scene.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await scene.follow({ startTime: inHours(-4) });
    await eventually(() => expect(asked).toHaveLength(1));
    const [first, second] = instances;
    const [stopped, other] = (await owns(first)) ? [first, second] : [second, first];
    expect(await stopped.end('SIGTERM')).toBe(0);
    const ended = performance.now();
    await eventually(async () => {
      const all = await listed<ShownRecording>(`/recordings?connectionId=${scene.connectionId}`, other);
      expect(all.map(({ status }) => status)).toEqual(['stored']);
    });
    // A killed instance would keep its work for 10 s.
    expect((asked[1] ?? Infinity) - ended).toBeLessThan(5_000);
  });
});

/** Whether this instance downloads at this moment. */
async function owns(service: OwnService): Promise<boolean> {
  const headers = { Authorization: `Bearer ${service.adminToken}` };
  const { text } = await call('GET', '/metrics', { headers }, service);
  return /^work_running\{kind="vision downloads"\} [1-9]/m.test(text);
}
