import { REDACTED } from '../text/secret-names.js';
import { isWellFormedKey } from './key-form.js';

/**
 * A key that this service issued (decision 17), in any case, beyond its public prefix of `hb_`, the cell and eight digits;
 * also in hex. A part of a key counts as well. A cell may have 12 characters.
 */
const OWN_KEY = {
  pattern: 'hb_(?:[0-9a-z]{1,12}_[0-9a-z]{12,}|[0-9a-z]{13,}|[0-9a-z]{12}(?!_))|68625f(?:[3-7][0-9a-f]){12,}',
  hints: ['hb_', '68625f'],
};

/** A whole key: its checksum separates it from an id that only begins so. */
const WHOLE_KEY = {
  pattern: 'hb_(?:[0-9a-z]{1,12}_)?[0-9a-z]{49}',
  hints: ['hb_'],
  accepts: isWellFormedKey,
};

/** The beginning of such a key in base64, at each of the three offsets. */
const OWN_KEY_BASE64 = { pattern: 'aGJf|[GWm2]hiX|oYl[89]', hints: ['agjf', 'hix', 'oyl'] };

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

/** A pattern, and lower-case texts of which one is in every match. */
interface Search {
  readonly pattern: string;
  readonly hints: readonly string[];
  /** Whether a match is what was sought; absent: each is. */
  readonly accepts?: (found: string) => boolean;
}

/** Looks for hints first: that takes a tenth of the time of a regular expression, and nearly every text has none. */
class Finder {
  private readonly pattern: RegExp;
  private readonly hints: readonly string[];
  private readonly texts: readonly string[];

  constructor(
    texts: readonly string[],
    flags: string,
    private readonly own: Search | undefined,
  ) {
    // The longest first, because one may contain another.
    const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
    const patterns = [...sorted.map((text) => RegExp.escape(text)), ...(own === undefined ? [] : [own.pattern])];
    this.pattern = new RegExp(patterns.join('|'), flags);
    this.texts = sorted.map((text) => text.toLowerCase());
    this.hints = [...(own?.hints ?? []), ...this.texts];
  }

  isIn(text: string, lower = text.toLowerCase()): boolean {
    return this.hints.some((hint) => lower.includes(hint)) && this.replaceIn(text) !== text;
  }

  replaceIn(text: string): string {
    return text.replace(this.pattern, (found) => (this.isSought(found) ? REDACTED : found));
  }

  private isSought(found: string): boolean {
    return this.own?.accepts === undefined || this.own.accepts(found) || this.texts.includes(found.toLowerCase());
  }
}

/** Finds secrets in texts: plain in any case, escaped, percent-encoded, in hex and in base64. */
export class SecretMatcher {
  private readonly plain: Finder;
  private readonly base64: Finder;

  constructor(secrets: readonly string[], own?: { readonly plain: Search; readonly base64: Search }) {
    const texts = [...new Set(secrets.filter((secret) => secret !== ''))];
    this.plain = new Finder(texts.flatMap(plainForms), 'gi', own?.plain);
    this.base64 = new Finder(texts.flatMap(base64Cores), '', own?.base64);
  }

  has(text: string): boolean {
    return this.matches(text) || (ESCAPE.test(text) && this.isHidden(text));
  }

  mask(text: string): string {
    const lower = text.toLowerCase();
    let result = this.plain.isIn(text, lower) ? this.plain.replaceIn(text) : text;
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

/** Other spellings are found by decoding. These are found in a text without touching what stands around them. */
function plainForms(text: string): string[] {
  const forms = [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())];
  return text.length < MIN_BASE64 ? forms : [...forms, Buffer.from(text).toString('hex')];
}

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

const OWN_PATTERNS = { plain: OWN_KEY, base64: OWN_KEY_BASE64 };
const OWN_WHOLE_KEYS = { plain: WHOLE_KEY, base64: OWN_KEY_BASE64 };

/** Of all services in this process. */
const protectedSecrets = new Set<string>();
let own = new SecretMatcher([], OWN_PATTERNS);
let ownInData = new SecretMatcher([], OWN_WHOLE_KEYS);

/** From now on these texts, such as the admin token, are removed wherever `maskSecrets` is applied. */
export function protectSecrets(secrets: readonly string[]): void {
  const before = protectedSecrets.size;
  for (const secret of secrets) protectedSecrets.add(secret);
  if (protectedSecrets.size === before) return;
  own = new SecretMatcher([...protectedSecrets], OWN_PATTERNS);
  ownInData = matcherOfData([]);
}

const MAX_MATCHERS = 1_000;
const matchers = new Map<string, SecretMatcher>();

/** Computing the forms of secrets takes longer than looking for them, and most calls have the same few. */
function matcherOf(secrets: readonly string[]): SecretMatcher {
  const id = secrets.join('\0');
  let matcher = matchers.get(id);
  if (matcher === undefined) {
    if (matchers.size >= MAX_MATCHERS) matchers.clear();
    matcher = new SecretMatcher(secrets);
    matchers.set(id, matcher);
  }
  return matcher;
}

/**
 * A matcher for data: the protected secrets, the given ones, and whole keys of ours. What only looks like a part of a key
 * stays, because an id must not change.
 */
export const matcherOfData = (secrets: readonly string[]): SecretMatcher =>
  new SecretMatcher([...protectedSecrets, ...secrets], OWN_WHOLE_KEYS);

/** Replaces secrets of ours in data, such as an id: see `matcherOfData`. */
export const maskSecretsInData = (text: string, secrets: readonly string[] = []): string =>
  withoutGiven(ownInData.mask(text), secrets);

/**
 * Replaces secrets of ours in a text of a log or a message: every key that this service issued and each part of one, the
 * protected secrets, and the given ones, such as the key of a connection.
 */
export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  return withoutGiven(own.mask(text), secrets);
}

const withoutGiven = (text: string, secrets: readonly string[]): string =>
  secrets.length === 0 ? text : matcherOf(secrets).mask(text);
