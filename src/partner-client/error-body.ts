import { storableText } from '../contracts/common/text.js';
import type { KeyScrubber } from './key-scrubber.js';
import { ownField } from './own-field.js';

/** What of a partner's error body is kept: a code, and at most so many characters of its message. */
const LONGEST_CODE = 100;
const LONGEST_MESSAGE = 500;

/**
 * What follows a status in a sentence: ` NOT_FOUND: no such hauler`. It is read out of the common error body (section
 * 2.1), and knows nothing of other shapes. Our keys go before a text is cut: what is left of one would not be recognised.
 */
export function saidText(bytes: Buffer, scrubber: KeyScrubber): string {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    return '';
  }
  return saidIn(body, scrubber);
}

/** The same of a body that was read already. */
export function saidIn(body: unknown, scrubber: KeyScrubber): string {
  const error = ownField(body, 'error');
  const text = (value: unknown, longest: number) =>
    typeof value === 'string' ? scrubber.sentence(storableText(value)).slice(0, longest) : undefined;
  const code = text(ownField(error, 'code'), LONGEST_CODE);
  const said = text(ownField(error, 'message'), LONGEST_MESSAGE)
    ?.replace(/\s+/g, ' ')
    .replace(/[.\s]+$/, '');
  return `${code === undefined ? '' : ` ${code}`}${said === undefined || said === '' ? '' : `: ${said}`}`;
}
