import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Breather } from '../../src/chunked-work/breather.js';
import { siteFindings, videoFindings } from '../../src/partner-client/check-rules.js';
import { KeyScrubber } from '../../src/partner-client/key-scrubber.js';
import { PartnerAnswer } from '../../src/partner-client/partner-answer.js';

const KEY = 'some-partner-key';
const VIDEO = {
  id: 'v1',
  customerId: 'c',
  truckId: 'T7',
  cameraId: 'front',
  startTime: '2026-01-31T08:30:00Z',
  endTime: '2026-01-31T08:35:00Z',
  durationSeconds: 300,
  downloadUrl: 'https://video.example.com/v1',
};

/** Counts what is made fit to be read. */
class CountingScrubber extends KeyScrubber {
  sentences = 0;

  override sentence(text: string): string {
    this.sentences++;
    return super.sentence(text);
  }
}

const answer = (body: string, scrubber = new KeyScrubber([KEY])) =>
  new PartnerAnswer(200, undefined, Buffer.from(body), 'partner', scrubber);

const zeros = `[${'0,'.repeat(20_000)}0]`;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('an answer with very many faults', () => {
  test.each([
    ['videos', videoFindings, `{"success":true,"data":{"videos":${zeros}}}`],
    ['sites', siteFindings, `{"success":true,"data":{"sites":${zeros}}}`],
  ])('of %s is read no further than what is shown', async (_, findingsOf, body) => {
    const scrubber = new CountingScrubber([KEY]);
    const { conforms, findings } = await findingsOf(answer(body, scrubber));
    expect(conforms).toBe(false);
    expect(findings).toHaveLength(21);
    expect(findings[20]).toBe('And 1 or more of the same kind.');
    // Path and message of each.
    expect(scrubber.sentences).toBe(2 * 21);
  });

  test('of sites is still read to its end, where it turns out to be no JSON', async () => {
    const body = `{"success":true,"data":{"sites":${zeros},"materials":[{]}}`;
    await expect(siteFindings(answer(body))).rejects.toMatchObject({ kind: 'notJson' });
  });
});

test('a site of more than 1 MiB is told as that, and what stands beside it as it is', async () => {
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

test('others may have their turn between any two videos', async () => {
  const asked = jest.spyOn(Breather.prototype, 'isDue', 'get');
  const { conforms } = await videoFindings(
    answer(JSON.stringify({ success: true, data: { videos: Array.from({ length: 100 }, () => VIDEO) } })),
  );
  expect(conforms).toBe(true);
  expect(asked).toHaveBeenCalledTimes(100);
});

test('of a million texts only those that have our key are made anew', () => {
  const scrubber = new KeyScrubber([KEY]);
  // Base64 of the key is made for each replacement.
  const made = jest.spyOn(Buffer, 'from');
  const read = scrubber.parse(`["\\n",${'"an ordinary text",'.repeat(5_000)}"${KEY}",{"a ${KEY}":"b"}]`) as unknown[];
  expect(read.slice(-3)).toEqual(['an ordinary text', '[redacted]', { 'a [redacted]': 'b' }]);
  expect(made.mock.calls.length).toBeLessThan(10);
});

test.each([
  ['8 characters, which could be nothing else', '12345678', '[redacted]'],
  ['7, which could be a word', '1234567', '1234567'],
])('a key of %s: in data and in a sentence', (_, key, inData) => {
  const scrubber = new KeyScrubber([key]);
  expect(scrubber.parse(JSON.stringify({ [key]: [key, `a ${key}.`] }))).toEqual({ [inData]: [inData, `a ${inData}.`] });
  expect(scrubber.sentence(`a ${key}.`)).toBe('a [redacted].');
});
