import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { isStorableText } from '../contracts/common/text.js';
import { type KeptBody, withoutPartialCharacter } from '../core/http/body-capture.js';
import { type LinkRule, redactBody } from './redaction.rules.js';

/** Bits of `request_form` and `response_form`. */
export const BASE64 = 1;
export const REDACTED_FORM = 2;
export const TRUNCATED = 4;

export interface BodyCells {
  readonly text: string | null;
  readonly form: number;
  readonly sha256: string | null;
  /** The redacted body before it is cut; undefined if it did not fit in memory or is no text. */
  readonly whole?: string | undefined;
}

export const NO_BODY: BodyCells = { text: null, form: 0, sha256: null };

interface BodyRule {
  readonly rule: LinkRule;
  readonly secrets: readonly string[];
  readonly maxBytes: number;
}

/** A body is redacted first and then cut, so that no part of a secret stays before the cut (decision 59). */
export function bodyCells(body: KeptBody | undefined, options: BodyRule): BodyCells {
  if (body === undefined) return NO_BODY;
  const { content } = body;
  const isText = typeof content === 'string' ? isStorableText(content) : isUtf8(content) && !content.includes(0);
  if (!isText) return binaryCells(body, Buffer.from(content as Buffer), options);
  const original = content.toString();
  const { text, isRedacted } = redactBody(original, options.rule, options.secrets);
  const bytes = Buffer.byteLength(text) > options.maxBytes ? Buffer.from(text) : undefined;
  const isCut = body.truncated || bytes !== undefined;
  return {
    text: bytes === undefined ? text : withoutPartialCharacter(bytes.subarray(0, options.maxBytes)).toString(),
    form: (isRedacted ? REDACTED_FORM : 0) + (isCut ? TRUNCATED : 0),
    // Otherwise the reader computes it from the text.
    sha256: body.sha256 ?? (isRedacted || isCut ? digestOf(original) : null),
    whole: body.truncated ? undefined : text,
  };
}

/** Bytes that are not UTF-8 are redacted byte by byte: names and secrets are ASCII. */
function binaryCells(body: KeptBody, bytes: Buffer, { rule, secrets, maxBytes }: BodyRule): BodyCells {
  const original = bytes.toString('latin1');
  const { text, isRedacted } = redactBody(original, rule, secrets);
  // Secrets of UTF-16 text are seen without its zero bytes.
  const isHidden =
    isCompressed(bytes) || (bytes.includes(0) && redactBody(original.replaceAll('\0', ''), rule, secrets).isRedacted);
  const kept = isHidden ? '' : text.slice(0, maxBytes);
  const isCut = body.truncated || kept.length < text.length;
  const form = BASE64 + (isRedacted || isHidden ? REDACTED_FORM : 0) + (isCut ? TRUNCATED : 0);
  const sha256 = body.sha256 ?? (form === BASE64 ? null : digestOf(bytes));
  return { text: Buffer.from(kept, 'latin1').toString('base64'), form, sha256 };
}

/** The beginnings of gzip, zstd, zlib and ZIP: their content is not searched, and so not stored. */
const isCompressed = (bytes: Buffer): boolean =>
  /^(?:1f8b|28b52ffd|78(?:01|5e|9c|da)|504b0304)/.test(bytes.toString('hex', 0, 4));

const digestOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
