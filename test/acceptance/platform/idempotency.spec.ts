import { beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../../support/raw-request.js';
import { type ErrorBody, Hauler, paths } from '../support/hauler.js';
import { type Answered, countOf, expectError, postAs, POSTS, unique } from '../support/posts.js';

/** Of the moment, not of the answer. */
const OF_THE_MOMENT = ['date', 'x-request-id', 'idempotency-replayed', 'connection', 'keep-alive'];
const own = ({ headers }: Answered) => [...headers].filter(([name]) => !OF_THE_MOMENT.includes(name));
const isReplay = ({ headers }: Answered) => headers.get('idempotency-replayed') === 'true';

function expectReplay(again: Answered, first: Answered): void {
  expect([again.status, again.text, own(again), isReplay(again)]).toEqual([first.status, first.text, own(first), true]);
}

describe.each(POSTS)('Idempotency-Key at POST $path', (post) => {
  let hauler: Hauler;
  beforeAll(async () => {
    hauler = await Hauler.create(post.sites === undefined ? {} : { sites: post.sites });
  });

  const newKey = () => ({ 'Idempotency-Key': unique('key').replace(' ', '-') });
  const send = (body: unknown, headers = {}) => postAs(hauler, post, body, headers);
  const created = () => countOf(hauler, post);

  function expectReused(reply: Answered): void {
    expectError(reply, post.refusal.status, post.refusal.code);
    expect(reply.body.error.details?.reason).toBe('IDEMPOTENCY_KEY_REUSED');
    expect([paths(reply), isReplay(reply)]).toEqual([['Idempotency-Key'], false]);
  }

  test('the same key and body get the first answer again, and nothing is done twice (decision 16)', async () => {
    const before = await created();
    const [body, key] = [post.body(), newKey()];
    const first = await send(body, key);
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    for (let i = 0; i < 3; i++) expectReplay(await send(body, key), first);
    expect(await created()).toBe(before + 1);
  });

  test('another body, if only by a blank, is refused, and the first answer stays (decision 16)', async () => {
    const [body, key] = [post.body(), newKey()];
    const first = await send(body, key);
    const before = await created();
    for (const other of [post.body(), JSON.stringify(body, null, 1), `${JSON.stringify(body)} `])
      expectReused(await send(other, key));
    expect(await created()).toBe(before);
    expectReplay(await send(body, key), first);
  });

  test('a refusal of the business is kept (decision 16)', async () => {
    const [body, key] = [await post.refused(hauler), newKey()];
    const first = await send(body, key);
    expect([first.status, isReplay(first)]).toEqual([post.refusal.status, false]);
    expectReplay(await send(body, key), first);
    expectReused(await send(post.body(), key));
  });

  test('400, 401, 413 and 415 are not kept, and a malformed body is 400 under a used key (decision 16)', async () => {
    const [key, body] = [newKey(), JSON.stringify(post.body())];
    const refused = [
      await send('{}', key),
      await send(body, { ...key, 'PLATFORM-API-KEY': 'wrong' }),
      await send(body.padEnd(1_048_577), key),
      await send(body, { ...key, 'Content-Type': 'text/plain' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 401, 413, 415]);
    const first = await send(body, key);
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    for (const malformed of ['{', {}]) expectError(await send(malformed, key), 400);
  });

  test('a key belongs to its hauler and its path (decisions 1, 16)', async () => {
    const other = await Hauler.create(post.sites === undefined ? {} : { sites: post.sites });
    const [body, key] = [post.body(), newKey()];
    const first = await send(body, key);
    const theirs = await postAs(other, post, body, key);
    expect([theirs.status, isReplay(theirs), theirs.text === first.text]).toEqual([200, false, false]);
    const elsewhere = POSTS.find(({ path }) => path !== post.path) ?? post;
    expect(isReplay(await postAs(hauler, elsewhere, elsewhere.body(), key))).toBe(false);
  });

  test('of 20 at once with one body, one does the work and the others wait for its answer (decision 16)', async () => {
    const before = await created();
    const [body, key] = [post.body(), newKey()];
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(body, key)));
    const firsts = replies.filter((reply) => !isReplay(reply));
    expect(firsts.map(({ status }) => status)).toEqual([200]);
    for (const reply of replies.filter(isReplay)) expectReplay(reply, firsts[0] as Answered);
    expect(await created()).toBe(before + 1);
  });

  test('of 20 at once with as many bodies, one is done and the others are refused (decision 16)', async () => {
    const before = await created();
    const key = newKey();
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(post.body(), key)));
    const done = replies.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) expectReused(reply);
    expect(await created()).toBe(before + 1);
  });

  test.each([
    ['one character', 'x'],
    ['255 characters', 'x'.repeat(255)],
    ['every visible character', '!"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`{|}~'],
  ])('may have %s (decision 16)', async (_what, key) => {
    const body = post.body();
    const first = await send(body, { 'Idempotency-Key': key });
    expectReplay(await send(body, { 'Idempotency-Key': key }), first);
  });

  test.each([
    ['empty', ['Idempotency-Key', '']],
    ['256 characters long', ['Idempotency-Key', 'x'.repeat(256)]],
    ['with a blank', ['Idempotency-Key', 'a b']],
    ['with a tab', ['Idempotency-Key', 'a\tb']],
    ['beyond ASCII', ['Idempotency-Key', 'caf\u00e9']],
    ['repeated', ['Idempotency-Key', 'a', 'Idempotency-Key', 'b']],
    ['repeated, the same', ['Idempotency-Key', 'a', 'idempotency-key', 'a']],
    ['repeated, once empty', ['Idempotency-Key', 'a', 'Idempotency-Key', '']],
  ])('that is %s is 400 (decision 16)', async (_what, headers) => {
    const before = await created();
    const usual = ['PLATFORM-API-KEY', await hauler.key(), 'Content-Type', 'application/json'];
    const url = hauler.service.url + post.path;
    const reply = await rawRequest(url, 'POST', [...usual, ...headers], JSON.stringify(post.body()));
    const body = JSON.parse(reply.text) as ErrorBody;
    expect([reply.status, body]).toMatchObject([400, { success: false, error: { code: 'INVALID_PAYLOAD' } }]);
    expect(body.error.details?.violations).toMatchObject([{ path: 'Idempotency-Key' }]);
    expect(await created()).toBe(before);
  });
});
