import { describe, expect, test } from '@jest/globals';
import { SENTENCES, statusFailure } from '../../../src/partner-client/partner-failure.js';
import { KeyScrubber } from '../../../src/partner-client/partner-answer.js';

const NOW = new Date('2026-01-31T08:30:00Z');

function failureOf(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  const scrubber = new KeyScrubber(['some-partner-key']);
  const context = { host: 'partner', scrubber, retryAfter: headers['retry-after'], now: NOW };
  return statusFailure(status, Buffer.from(body), context);
}

describe('a status without a usable response', () => {
  test.each([
    [201, 'breach'],
    [299, 'breach'],
    [300, 'redirected'],
    [304, 'breach'],
    [399, 'redirected'],
    [400, 'rejected'],
    [428, 'rejected'],
    [429, 'rateLimited'],
    [430, 'rejected'],
    [499, 'rejected'],
    [500, 'failed'],
    [501, 'failed'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
    [505, 'failed'],
    [599, 'failed'],
  ])('%d is %s', (status, kind) => {
    expect(failureOf(status, '')).toMatchObject({ kind, status, retryAt: undefined });
  });

  test.each([400, 429, 500, 503])('keeps the time of Retry-After: %d', (status) => {
    expect(failureOf(status, '', { 'retry-after': '90' }).retryAt).toEqual(new Date('2026-01-31T08:31:30Z'));
  });
});

describe('the error of a partner in our message', () => {
  const error = (code: unknown, message: unknown) => JSON.stringify({ success: false, error: { code, message } });

  test.each<[string, string, string]>([
    ['code and message', error('GONE', 'no such hauler'), ' GONE: no such hauler'],
    ['a full stop of its own', error('GONE', 'no. such hauler.. '), ' GONE: no. such hauler'],
    ['lines and runs of blanks', error('GONE', 'no\n such \t hauler'), ' GONE: no such hauler'],
    ['no message', error('GONE', undefined), ' GONE'],
    ['a message of blanks', error('GONE', ' \n.'), ' GONE'],
    ['no code', error(undefined, 'no'), ': no'],
    ['other types', error(7, { no: 'no' }), ''],
    ['our key', error('some-partner-key', 'some-partner-key!'), ' [redacted]: [redacted]!'],
    ['a link', error('X', 'see https://h.example/a?sig=b'), ' X: see https://h.example/a?[redacted]'],
    ['a character that no text may have', error('X', 'no\u0000 such'), ' X: no such'],
    ['a code of 101 characters', error('X'.repeat(101), 'no'), ` ${'X'.repeat(100)}: no`],
    ['a message of 501 characters', error('X', 'x'.repeat(501)), ` X: ${'x'.repeat(500)}`],
    ['an error that is inherited', '{"__proto__":{"error":{"code":"X"}}}', ''],
    ['an error that is not an object', '{"error":"X"}', ''],
    ['null', 'null', ''],
    ['another format than JSON', '<html>', ''],
    ['nothing', '', ''],
  ])('%s', (_, body, words) => {
    expect(failureOf(400, body).message).toBe(`partner rejected the call with status 400${words}.`);
  });
});

describe('a sentence', () => {
  test.each([
    [1_023, '1023 bytes'],
    [1_024, '1 KB'],
    [1_536, '1.5 KB'],
    [1_048_576, '1 MB'],
    [268_435_456, '256 MB'],
  ])('writes a size of %d as %s', (bytes, text) => {
    expect(SENTENCES.tooLarge('partner', bytes)).toBe(`The answer of partner is larger than ${text}.`);
  });

  test.each([
    [999, '999 ms'],
    [1_000, '1 s'],
    [1_549, '1.5 s'],
    [60_000, '60 s'],
  ])('writes %d milliseconds as %s', (ms, text) => {
    expect(SENTENCES.timedOut('partner', ms)).toBe(`partner did not send its whole answer within ${text}.`);
  });
});
