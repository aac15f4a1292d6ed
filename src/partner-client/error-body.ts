import { storableText } from '../contracts/common/text.js';
import { ownField } from './own-field.js';

/** What of a partner's error body is kept: a code, and at most so many characters of its message. */
const LONGEST_CODE = 100;
const LONGEST_MESSAGE = 500;

export interface PartnerError {
  readonly code?: string;
  readonly message?: string;
}

/** Reads the common error body (section 2.1) out of whatever came with an error status; knows nothing of other shapes. */
export function partnerError(bytes: Buffer): PartnerError {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    return {};
  }
  const error = ownField(body, 'error');
  const code = text(ownField(error, 'code'), LONGEST_CODE);
  const message = text(ownField(error, 'message'), LONGEST_MESSAGE);
  return { ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
}

/** What follows a status in a sentence: ` NOT_FOUND: no such hauler`. */
export function saidText({ code, message }: PartnerError): string {
  const said = message?.replace(/\s+/g, ' ').replace(/[.\s]+$/, '');
  return `${code === undefined ? '' : ` ${code}`}${said === undefined || said === '' ? '' : `: ${said}`}`;
}

function text(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' ? storableText(value).slice(0, longest) : undefined;
}
