import { withoutMark } from './json.js';
import type { Violation } from './violation.js';

/** What may come next; `element` and `name` are the first of their list or object, which may also end there. */
type Expected = 'value' | 'element' | 'name' | 'nextName' | 'colon' | 'more' | 'nothing';

/** One of `{}[],:`, a text, or a number, `true`, `false` or `null` as a word. */
type Kind = '{' | '}' | '[' | ']' | ',' | ':' | 'text' | 'word';

interface Token {
  /** Undefined where there is none, or a broken one. */
  readonly kind: Kind | undefined;
  /** What follows it; of a broken one the fault. */
  readonly end: number;
}

const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const BLANKS = ' \t\n\r';
const MARKS = '{}[],:';

/** A text that is not JSON is looked through again for the place: those that are JSON pay nothing for it. */
export function placed(violation: Violation, text = ''): Violation {
  if (violation.rule !== 'isJson' || text.trim() === '') return violation;
  return { ...violation, message: `${violation.message}: ${jsonFaultPlace(withoutMark(text))}` };
}

/**
 * Where a text that is not JSON stops being it, in words: line and column from 1, the column in characters. Nothing of
 * the text is told. V8 names a place in some of its messages only, and quotes the text in the others.
 */
export function jsonFaultPlace(text: string): string {
  const at = faultOffset(text);
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${[...(lines.at(-1) ?? '')].length + 1}`;
  return at === text.length ? `it ends too early, at ${place}` : `what stands at ${place} does not belong there`;
}

/** In UTF-16 units; the length of the text where it only ends too early. */
function faultOffset(text: string): number {
  const open: ('}' | ']')[] = [];
  let expected: Expected | undefined = 'value';
  for (let at = 0; ;) {
    while (at < text.length && BLANKS.includes(text.charAt(at))) at++;
    const { kind, end } = tokenAt(text, at);
    if (kind === undefined) return end;
    expected = following(expected, kind, open);
    if (expected === undefined) return at;
    at = end;
  }
}

/** Undefined where the token must not stand there. `open` are the ends that are still to come. */
function following(expected: Expected, kind: Kind, open: ('}' | ']')[]): Expected | undefined {
  const mayEnd = expected === 'element' || expected === 'name' || expected === 'more';
  if (mayEnd && kind === open.at(-1)) {
    open.pop();
    return afterValue(open);
  }
  switch (expected) {
    case 'name':
    case 'nextName':
      return kind === 'text' ? 'colon' : undefined;
    case 'colon':
      return kind === ':' ? 'value' : undefined;
    case 'more':
      if (kind !== ',') return undefined;
      return open.at(-1) === '}' ? 'nextName' : 'value';
    case 'value':
    case 'element':
      if (kind === 'text' || kind === 'word') return afterValue(open);
      if (kind !== '{' && kind !== '[') return undefined;
      open.push(kind === '{' ? '}' : ']');
      return kind === '{' ? 'name' : 'element';
    case 'nothing':
      return undefined;
  }
}

const afterValue = (open: readonly unknown[]): Expected => (open.length === 0 ? 'nothing' : 'more');

function tokenAt(text: string, at: number): Token {
  const first = text.charAt(at);
  if (first === '') return { kind: undefined, end: at };
  if (MARKS.includes(first)) return { kind: first as Kind, end: at + 1 };
  if (first === '"') return textAt(text, at);
  const end = endOf(WORD, text, at);
  return end === undefined ? { kind: undefined, end: at } : { kind: 'word', end };
}

function textAt(text: string, start: number): Token {
  for (let at = start + 1; at < text.length;) {
    const unit = text.charAt(at);
    if (unit === '"') return { kind: 'text', end: at + 1 };
    const end = unit === '\\' ? endOf(ESCAPE, text, at) : unit < ' ' ? undefined : at + 1;
    if (end === undefined) return { kind: undefined, end: at };
    at = end;
  }
  return { kind: undefined, end: text.length };
}

/** Where the match of a sticky pattern ends. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
