import { afterEach, describe, expect, jest, test } from '@jest/globals';
import 'reflect-metadata';
import { Readable } from 'node:stream';
import { siteFindings, videoFindings } from '../../../src/partner-client/connection-check.rules.js';
import { KeyScrubber, StreamedAnswer } from '../../../src/partner-client/partner-answer.js';

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
