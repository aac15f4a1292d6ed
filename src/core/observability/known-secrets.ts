import { REDACTED } from '../text/secret-names.js';
import { isWellFormedKey } from './key-form.js';

/**
 * A key that this service issued (decision 17), in any case, beyond its public prefix of `hb_`, the cell and eight digits. A part
 * of a key counts as well. A cell may have 12 characters.
 */
const OWN_KEY = { pattern: 'hb_(?:[0-9a-z]{1,12}_[0-9a-z]{12,}|[0-9a-z]{13,}|[0-9a-z]{12}(?!_))', hint: 'hb_' };

/** A whole key: its checksum separates it from an id that only begins so. */
const WHOLE_KEY = { pattern: 'hb_(?:[0-9a-z]{1,12}_)?[0-9a-z]{49}', hint: 'hb_', accepts: isWellFormedKey };

/** Characters that may hide others: `\u0068`, `%68`, `&#104;`, and the zero bytes of UTF-16. */
const ESCAPE = /[\\%\0]|&#/;

/** Rounds of decoding: JSON in JSON in a query is three. */
const MAX_ROUNDS = 4;

/** Parts of a text that are replaced as a whole if they hide a secret, from small to large. An escape is never cut. */
const PARTS = [/(?:\\(?:u[0-9a-f]{4}|[^u])|[^\s"'<>/?=,:()[\]{}\\])+/gi, /(?:\\(?:u[0-9a-f]{4}|[^u])|[^\s"<>\\])+/gi];

/** Base64 of a secret needs at least these characters besides the ones at its edges, which depend on its neighbours. */
const MIN_BASE64 = 6;
const BASE64_RUN = /[A-Za-z0-9+/_-]{8,}={0,2}/g;

/** What a sentence puts behind a secret stays. */
const PUNCTUATION = /[.,;:!?]*$/;

/** A pattern, and a lower-case text that is in every match. */
interface Search {
  readonly pattern: string;
  readonly hint: string;
  /** Whether a match is what was sought; absent: each is. */
  readonly accepts?: (found: string) => boolean;
}

/** Looks for hints first: that takes a tenth of the time of a regular expression, and nearly every text has none. */
class Finder {
  private readonly pattern: RegExp;
  private readonly hints: readonly string[];
  private readonly texts: ReadonlySet<string>;

  constructor(
    texts: readonly string[],
    flags: string,
    private readonly own?: Search,
  ) {
    // The longest first, because one may contain another.
    const sorted = [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length);
    const patterns = [...sorted.map((text) => RegExp.escape(text)), ...(own === undefined ? [] : [own.pattern])];
    this.pattern = new RegExp(patterns.join('|'), flags);
    this.texts = new Set(sorted.map((text) => text.toLowerCase()));
    this.hints = [...(own === undefined ? [] : [own.hint]), ...this.texts];
  }

  isIn(text: string, lower?: string): boolean {
    return this.mask(text, lower) !== text;
  }

  mask(text: string, lower = text.toLowerCase()): string {
    if (!this.hints.some((hint) => lower.includes(hint))) return text;
    return text.replace(this.pattern, (found) => (this.isSought(found) ? REDACTED : found));
  }

  private isSought(found: string): boolean {
    return this.own?.accepts === undefined || this.own.accepts(found) || this.texts.has(found.toLowerCase());
  }
}

/** Finds the keys of partners and unknown callers: plain in any case, escaped, percent-encoded, in hex and in base64 (ADR 7). */
class KeyMatcher {
  private readonly plain: Finder;
  private readonly base64: Finder;

  constructor(keys: readonly string[]) {
    this.plain = new Finder(
      keys.flatMap((key) => [...plainForms(key), ...hexForms(key)]),
      'gi',
    );
    this.base64 = new Finder(keys.flatMap(base64Cores), '');
  }

  mask(text: string): string {
    const lower = text.toLowerCase();
    let result = this.plain.mask(text, lower);
    if (this.base64.isIn(result, result === text ? lower : undefined))
      result = result.replace(BASE64_RUN, (run) => this.withoutBase64(run));
    return ESCAPE.test(result) ? this.withoutEscaped(result) : result;
  }

  private withoutBase64(run: string): string {
    for (let offset = 0; offset < 4; offset++) {
      if (this.plain.isIn(Buffer.from(run.slice(offset), 'base64').toString('latin1'))) return REDACTED;
    }
    return run;
  }

  private withoutEscaped(text: string): string {
    let result = text;
    for (const part of PARTS) {
      if (!this.isHidden(result)) return result;
      result = result.replace(part, (each) => (this.isHidden(each) ? REDACTED + PUNCTUATION.exec(each)?.[0] : each));
    }
    return this.isHidden(result) ? REDACTED : result;
  }

  private isHidden(text: string): boolean {
    let decoded = text;
    for (let round = 0; round < MAX_ROUNDS && ESCAPE.test(decoded); round++) {
      const next = decodedOnce(decoded);
      if (next === decoded) return false;
      if (this.matches(next)) return true;
      decoded = next;
    }
    return false;
  }

  private matches(text: string): boolean {
    const lower = text.toLowerCase();
    if (this.plain.isIn(text, lower)) return true;
    return this.base64.isIn(text, lower) && text.replace(BASE64_RUN, (run) => this.withoutBase64(run)) !== text;
  }
}

/** As it is, percent-encoded, and within JSON, also JSON in JSON in JSON, as a line of the log may be. */
function plainForms(text: string): string[] {
  const inJson = (inner: string) => JSON.stringify(inner).slice(1, -1);
  const [once, twice] = [inJson(text), inJson(inJson(text))];
  return [text, encodeURIComponent(text.toWellFormed()), once, twice, inJson(twice)];
}

const hexForms = (text: string): string[] => (text.length < MIN_BASE64 ? [] : [Buffer.from(text).toString('hex')]);

/** The characters of base64 that do not depend on what stands before and after the text. */
function base64Cores(text: string): string[] {
  const cores = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(' '.repeat(offset) + text).toString('base64');
    const first = [0, 2, 3][offset] ?? 0;
    const bits = (offset + Buffer.byteLength(text)) * 8;
    return encoded.slice(first, Math.floor(bits / 6));
  });
  const urlSafe = cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...cores, ...urlSafe])].filter(({ length }) => length >= MIN_BASE64);
}

const ENCODED = /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|\\(["'/\\])|\0/gi;

function decodedOnce(text: string): string {
  return text.replace(ENCODED, (_all, ...groups: (string | undefined)[]) => {
    const [percent, unicode, byte, hexEntity, entity, literal] = groups;
    if (literal !== undefined) return literal;
    const hex = percent ?? unicode ?? byte ?? hexEntity;
    if (hex !== undefined) return character(parseInt(hex, 16));
    return entity === undefined ? '' : character(Number(entity));
  });
}

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');

/** Of all services in this process. */
const protectedSecrets = new Set<string>();
let ownInText = new Finder([], 'gi', OWN_KEY);
let ownInData = new Finder([], 'gi', WHOLE_KEY);

/** From now on these texts, such as the admin token, are removed wherever `maskSecrets` is applied. */
export function protectSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) protectedSecrets.add(secret);
  const forms = [...protectedSecrets].flatMap(plainForms);
  ownInText = new Finder(forms, 'gi', OWN_KEY);
  ownInData = new Finder(forms, 'gi', WHOLE_KEY);
}

const MAX_MATCHERS = 1_000;
const matchers = new Map<string, KeyMatcher>();

/** Computing the forms of keys takes longer than looking for them, and most calls have the same few. */
function matcherOf(keys: readonly string[]): KeyMatcher {
  const id = keys.join('\0');
  let matcher = matchers.get(id);
  if (matcher === undefined) {
    if (matchers.size >= MAX_MATCHERS) matchers.clear();
    matcher = new KeyMatcher(keys);
    matchers.set(id, matcher);
  }
  return matcher;
}

/**
 * Replaces secrets of ours in data, such as an id: the protected secrets and whole keys that this service issued, and the given
 * keys of others. What only looks like a part of a key stays, because an id must not change.
 */
export const maskSecretsInData = (text: string, keys: readonly string[] = []): string =>
  withoutKeys(ownInData.mask(text), keys);

/**
 * Replaces secrets of ours in a text of a log or a message: every key that this service issued and each part of one, the
 * protected secrets, and the given keys of others, such as that of a connection.
 */
export const maskSecrets = (text: string, keys: readonly string[] = []): string =>
  withoutKeys(ownInText.mask(text), keys);

const withoutKeys = (text: string, keys: readonly string[]): string =>
  keys.length === 0 ? text : matcherOf(keys).mask(text);
