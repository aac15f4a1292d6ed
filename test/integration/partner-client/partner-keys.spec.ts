import { afterEach, describe, expect, jest, test } from '@jest/globals';
import 'reflect-metadata';
import { Readable } from 'node:stream';
import { siteFindings, videoFindings } from '../../../src/partner-client/connection-check.rules.js';
import { KeyScrubber, StreamedAnswer } from '../../../src/partner-client/partner-answer.js';
import type { PartnerConnection } from '../../../src/partner-client/connections.repository.js';
import { type FailureKind, PartnerFailure, nextAttemptMs } from '../../../src/partner-client/partner-failure.js';
import {
  EMPTY,
  failureOf,
  getSites,
  PARTNER_KEY,
  partnerClient,
  readSites,
  sealedFor,
  SITES,
  usePartnerCalls,
} from './partner-calls.js';
import * as partnerDoes from '../../support/scripted-partner.js';
import type { ScriptedReply } from '../../support/scripted-partner.js';

const scene = usePartnerCalls();
const { connect } = scene;

/** All texts that a log or a response could take from an error. */
const shown = (error: Error): string =>
  [error.message, error.stack, JSON.stringify(error), String(error.cause), JSON.stringify(error.cause)].join('\n');

describe('the two key slots', () => {
  /** A partner that accepts this key only. */
  const accepts =
    (key: string): ScriptedReply =>
    (response, request) =>
      (request.headers['api-key'] === key ? partnerDoes.json(EMPTY) : partnerDoes.refuses(401, 'UNAUTHORIZED'))(
        response,
        request,
      );
  const slots = async ({ id }: PartnerConnection) => {
    const [row] = await scene.dataSource.query<{ sealed_key: string; sealed_next_key: string | null }[]>(
      'SELECT sealed_key, sealed_next_key FROM connections WHERE id = $1',
      [id],
    );
    return row;
  };

  test('the current key is used while it works', async () => {
    scene.partner.on(SITES, accepts(PARTNER_KEY));
    const connection = await connect({ nextKey: 'next-partner-key' });
    await partnerClient(scene.dataSource).call(connection, getSites);
    expect(scene.partner.asked).toHaveLength(1);
    expect((await slots(connection))?.sealed_next_key).toBe(connection.sealedNextKey);
  });

  test('the next key is tried on 401, and becomes the current key', async () => {
    scene.partner.on(SITES, accepts('next-partner-key'));
    const connection = await connect({ nextKey: 'next-partner-key' });
    const client = partnerClient(scene.dataSource);
    await client.call(connection, getSites);
    expect(scene.partner.asked.map(({ headers }) => headers['api-key'])).toEqual([PARTNER_KEY, 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealed_key: connection.sealedNextKey, sealed_next_key: null });
    // Also on another instance.
    await client.call(connection, getSites);
    await partnerClient(scene.dataSource).call(connection, getSites);
    expect(scene.partner.asked.slice(2).map(({ headers }) => headers['api-key'])).toEqual([
      'next-partner-key',
      'next-partner-key',
    ]);
  });

  test('a next key that another instance promotes at the same time is the current key from then on', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    let others: Promise<unknown> | undefined;
    scene.partner.on(SITES, (response, request) => {
      others ??= scene.dataSource.query(
        'UPDATE connections SET sealed_key = sealed_next_key, sealed_next_key = NULL WHERE id = $1',
        [connection.id],
      );
      void others.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.dataSource);
    for (let i = 0; i < 3; i++) await client.call(connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'next-partner-key', 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealed_key: connection.sealedNextKey, sealed_next_key: null });
  });

  test('a key that an admin saves during a call stays the current key', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    const saved = { sealed_key: sealedFor(connection.id, 'a third one'), sealed_next_key: connection.sealedNextKey };
    scene.partner.on(SITES, (response, request) => {
      const refused = request.headers['api-key'] === PARTNER_KEY;
      const saving = refused
        ? scene.dataSource.query('UPDATE connections SET sealed_key = $2 WHERE id = $1', [
            connection.id,
            saved.sealed_key,
          ])
        : Promise.resolve();
      void saving.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.dataSource);
    await client.call(connection, getSites);
    expect(await slots(connection)).toEqual(saved);
    // The next key was not promoted: the saved key is sent first.
    await client.call(connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'a third one', 'next-partner-key']);
  });

  test('both keys stay if the partner accepts neither', async () => {
    scene.partner.on(SITES, accepts('a third one'));
    const connection = await connect({ nextKey: 'next-partner-key' });
    const failure = await failureOf(partnerClient(scene.dataSource).call(connection, getSites));
    expect(failure.message).toContain('neither our current nor our next API key');
    expect(await slots(connection)).toEqual({
      sealed_key: connection.sealedKey,
      sealed_next_key: connection.sealedNextKey,
    });
  });

  test('a next key is not promoted by the page of a gateway with status 200', async () => {
    scene.partner.on(SITES, (response, request) =>
      (request.headers['api-key'] === PARTNER_KEY ? partnerDoes.refuses(401, 'UNAUTHORIZED') : partnerDoes.html())(
        response,
        request,
      ),
    );
    const connection = await connect({ nextKey: 'next-partner-key' });
    await partnerClient(scene.dataSource).call(connection, getSites);
    expect((await slots(connection))?.sealed_next_key).toBe(connection.sealedNextKey);
  });

  test('a next key is not promoted if the call with it fails', async () => {
    scene.partner.on(SITES, partnerDoes.refuses(401, 'UNAUTHORIZED'), partnerDoes.html(500));
    const connection = await connect({ nextKey: 'next-partner-key' });
    expect((await failureOf(partnerClient(scene.dataSource).call(connection, getSites))).kind).toBe('failed');
    expect((await slots(connection))?.sealed_next_key).toBe(connection.sealedNextKey);
  });
});

describe('the key of a partner', () => {
  const echo = `you sent ${PARTNER_KEY} or ${encodeURIComponent(PARTNER_KEY)} or ${Buffer.from(PARTNER_KEY).toString('base64')}`;

  test.each<[string, ScriptedReply]>([
    ['in an error body', partnerDoes.refuses(400, 'INVALID_PAYLOAD', echo)],
    ['as an error code', partnerDoes.refuses(500, PARTNER_KEY)],
    ['in a redirect', partnerDoes.redirects(`https://x.example/?key=${encodeURIComponent(PARTNER_KEY)}`)],
    ['on a broken connection', partnerDoes.breaks('{}', 1)],
    ['and does not answer', partnerDoes.hangs()],
    ['in a Content-Encoding', partnerDoes.raw('{}', { headers: { 'Content-Encoding': PARTNER_KEY } })],
  ])('is not in the error if the partner echoes it %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const failure = await failureOf(partnerClient(scene.dataSource, { answerMs: 200 }).call(await connect(), getSites));
    const text = shown(failure);
    for (const form of [PARTNER_KEY, encodeURIComponent(PARTNER_KEY), Buffer.from(PARTNER_KEY).toString('base64')]) {
      expect(text).not.toContain(form);
    }
  });

  const LONG_KEY = 'pk_live_5f0c1f2e7a3b4c8d9e0f1a2b3c4d5e6f7a8';
  const LONG_KEY_64 = Buffer.from(LONG_KEY).toString('base64');

  test.each<[string, string, string]>([
    ['the end of a message', 'X', `${'x'.repeat(458)}${LONG_KEY}`],
    ['the end of a message, after a whole one', 'X', `${'x'.repeat(420)}${LONG_KEY} ${LONG_KEY}`],
    ['the end of a message, in base64', 'X', `${'x'.repeat(480)}${LONG_KEY_64}`],
    [
      'the end of a message, around a character that is removed',
      'X',
      `${'x'.repeat(470)}${LONG_KEY.slice(0, 9)}\0${LONG_KEY.slice(9)}`,
    ],
    ['the end of a code', `${'X'.repeat(80)}${LONG_KEY}`, 'no'],
  ])('is not in the error in part, across %s', async (_, code, message) => {
    scene.partner.on(SITES, partnerDoes.refuses(400, code, message));
    const failure = await failureOf(partnerClient(scene.dataSource).call(await connect({ key: LONG_KEY }), getSites));
    const text = shown(failure);
    for (const form of [LONG_KEY, LONG_KEY_64]) {
      for (let at = 0; at + 8 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 8));
    }
  });

  test('is in no value of a response that echoes it, and in no violation', async () => {
    const escaped = [...PARTNER_KEY].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const body = `{"success":true,"data":{"sites":[{"name":${JSON.stringify(echo)},"${PARTNER_KEY}":"${escaped}"}]}}`;
    scene.partner.on(SITES, partnerDoes.raw(body));
    const connection = await connect();
    const answer = await partnerClient(scene.dataSource).call(connection, getSites);
    expect(JSON.stringify(answer.json())).not.toContain(PARTNER_KEY);
    expect(JSON.stringify(answer.json())).toContain('[redacted]');
    await partnerClient(scene.dataSource).stream(connection, getSites, async (streamed) => {
      for await (const records of streamed.records(['data.sites']))
        expect(JSON.stringify(records)).not.toContain(PARTNER_KEY);
    });
    const failure = await failureOf(Promise.resolve().then(() => readSites(answer)));
    expect(shown(failure)).not.toContain(PARTNER_KEY);
  });

  test('that is a common word does not change the data', async () => {
    scene.partner.on(SITES, partnerDoes.json({ success: true, data: { materials: [{ materialType: 'sand' }] } }));
    const answer = await partnerClient(scene.dataSource).call(await connect({ key: 'sand' }), getSites);
    expect(answer.json()).toMatchObject({ data: { materials: [{ materialType: 'sand' }] } });
  });
});

const now = new Date('2026-01-31T08:30:00Z');

describe('the delay before a retry', () => {
  const timing = { rule: { firstMs: 500, factor: 2, maxMs: 60_000, jitter: 0.5 }, now, random: 0.5 };
  const failure = (kind: FailureKind, retryAfterS?: number) =>
    new PartnerFailure(kind, 'no', {
      ...(retryAfterS === undefined ? {} : { retryAt: new Date(now.getTime() + retryAfterS * 1000) }),
    });

  test.each<[string, PartnerFailure, number, number | undefined]>([
    ['first wait', failure('unavailable'), 1, 500],
    ['second wait', failure('broken'), 2, 1_000],
    ['no fourth try', failure('broken'), 3, undefined],
    ['refused connections', failure('unreachable'), 1, 500],
    ['429 without Retry-After', failure('rateLimited'), 1, 500],
    ['429 with Retry-After', failure('rateLimited', 200), 1, 200_000],
    ['429 with a Retry-After of 0', failure('rateLimited', 0), 1, 500],
    ['exactly 5 min', failure('rateLimited', 300), 1, 300_000],
    ['more than 5 min', failure('rateLimited', 301), 1, undefined],
    ['a millisecond more', failure('rateLimited', 300.001), 1, undefined],
    ['500 of a read', failure('failed'), 1, undefined],
    ['lost answer of a read', failure('timedOut'), 1, undefined],
    ['a breach', failure('breach'), 1, undefined],
    ['a wrong key', failure('unauthorized'), 1, undefined],
    ['a rejection', failure('rejected'), 1, undefined],
    ['a refused address', failure('addressRefused'), 1, undefined],
  ])('%s', (_, error, attempt, expected) => expect(nextAttemptMs(error, attempt, timing)).toBe(expected));

  test('varies from half to one and a half', () => {
    expect(nextAttemptMs(failure('broken'), 1, { ...timing, random: 0 })).toBe(250);
    expect(nextAttemptMs(failure('broken'), 1, { ...timing, random: 0.999 })).toBeCloseTo(750, -1);
  });
});

const KEY = 'some-partner-key';

/** Counts the texts that are redacted. */
class CountingScrubber extends KeyScrubber {
  sentences = 0;

  override sentence(text: string): string {
    this.sentences++;
    return super.sentence(text);
  }
}

const answer = (body: string, scrubber = new KeyScrubber([KEY])) =>
  new StreamedAnswer(200, 'partner', scrubber, Readable.from([Buffer.from(body)]) as AsyncIterable<Buffer>, 1e9);

const zeros = `[${'0,'.repeat(20_000)}0]`;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a response with very many faults', () => {
  test.each([
    ['videos', videoFindings, `{"success":true,"data":{"videos":${zeros}}}`],
    ['sites', siteFindings, `{"success":true,"data":{"sites":${zeros}}}`],
  ])('of %s is read no further than its reported findings', async (_, findingsOf, body) => {
    const scrubber = new CountingScrubber([KEY]);
    const { conforms, findings } = await findingsOf(answer(body, scrubber));
    expect(conforms).toBe(false);
    expect(findings).toHaveLength(21);
    expect(findings[20]).toBe('And 1 or more of the same kind.');
    // A path and a message for each.
    expect(scrubber.sentences).toBe(2 * 21);
  });

  test('of sites is still read to its end, which may show that it is not JSON', async () => {
    const body = `{"success":true,"data":{"sites":${zeros},"materials":[{]}}`;
    await expect(siteFindings(answer(body))).rejects.toMatchObject({ kind: 'notJson' });
  });
});

test('a site of more than 1 MiB is reported as such, and the faults of the other records as usual', async () => {
  const huge = JSON.stringify({
    id: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
    name: 'huge',
    note: 'x'.repeat(1_100_000),
  });
  const { findings } = await siteFindings(answer(`{"success":true,"data":{"sites":[${huge},7]}}`));
  expect(findings).toEqual([
    expect.stringContaining('data.sites[0] must not be larger than 1 MiB'),
    expect.stringContaining('data.sites[1] must be an object'),
  ]);
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['33 levels', nested(33)],
  ['100,000 levels', nested(100_000)],
])('a value of %s is replaced by 0 at level 33, which bounds the recursion of every reader', (_, text) => {
  expect(JSON.stringify(new KeyScrubber([KEY]).parse(text))).toBe(`${'['.repeat(32)}0${']'.repeat(32)}`);
});

test('a value of 32 levels is returned unchanged', () => {
  expect(JSON.stringify(new KeyScrubber([KEY]).parse(nested(32)))).toBe(nested(32));
});

test('of many texts only those with our key are redacted', () => {
  const scrubber = new KeyScrubber([KEY]);
  // Base64 of the key is computed for each replacement.
  const made = jest.spyOn(Buffer, 'from');
  const read = scrubber.parse(`["\\n",${'"an ordinary text",'.repeat(5_000)}"${KEY}",{"a ${KEY}":"b"}]`) as unknown[];
  expect(read.slice(-3)).toEqual(['an ordinary text', '[redacted]', { 'a [redacted]': 'b' }]);
  expect(made.mock.calls.length).toBeLessThan(10);
});

test.each([
  ['8 characters, which is no common word', '12345678', '[redacted]'],
  ['7, which may be a common word', '1234567', '1234567'],
])('a key of %s: in data and in a sentence', (_, key, inData) => {
  const scrubber = new KeyScrubber([key]);
  expect(scrubber.parse(JSON.stringify({ [key]: [key, `a ${key}.`] }))).toEqual({ [inData]: [inData, `a ${inData}.`] });
  expect(scrubber.sentence(`a ${key}.`)).toBe('a [redacted].');
});
