import { isUtf8 } from 'node:buffer';
import { type Piece, tooLarge } from '../../chunked-work/record-cutter.js';
import { JsonSplitFault } from '../../chunked-work/json-split-fault.js';
import { splitJson } from '../../chunked-work/split-json.js';
import { InvalidJsonError, isJsonObject, JsonTextCheck, parseJson } from '../../contracts/common/json.js';
import { joinPath } from '../../contracts/common/text.js';
import type { Violation } from '../../contracts/common/violation.js';
import { invalid } from '../../errors/app-error.js';

interface Batch<Name extends string> {
  readonly list: Name;
  /** Index of `elements[0]`. */
  readonly first: number;
  readonly elements: readonly unknown[];
}

/** Lists of a JSON object, to be read batch by batch. */
export interface SubmittedLists<Name extends string> {
  /** What is no list where one was asked for; more are added while batches are read. */
  readonly violations: readonly Violation[];
  /** Checks the elements while batches are read. */
  readonly textCheck: JsonTextCheck;
  /** Throws `invalid` where the text is no JSON. */
  batches(): Generator<Batch<Name>>;
}

/** A body of any size is never parsed at one go; what is no JSON is `invalid`. */
export async function readLists<const Name extends string>(
  body: Buffer,
  names: readonly Name[],
): Promise<SubmittedLists<Name>> {
  const split = await splitJson(body, names).catch((error: unknown) => {
    throw error instanceof JsonSplitFault ? splitFault(error, body) : error;
  });
  const submitted = new Submitted<Name>(body, split.pieces);
  submitted.readEnvelope(split.envelope, names);
  return submitted;
}

class Submitted<Name extends string> implements SubmittedLists<Name> {
  readonly violations: Violation[] = [];
  readonly textCheck = new JsonTextCheck();

  constructor(
    private readonly body: Buffer,
    private readonly pieces: readonly Piece[],
  ) {}

  readEnvelope(text: string, names: readonly Name[]): void {
    const envelope = this.parse(text);
    this.textCheck.check(envelope);
    this.violations.push(...shapeViolations(envelope, names));
  }

  *batches(): Generator<Batch<Name>> {
    for (const piece of this.pieces) {
      if (piece.oversized) {
        this.violations.push(tooLarge(joinPath(piece.list, piece.first)));
        continue;
      }
      yield { list: piece.list as Name, first: piece.first, elements: this.elementsOf(piece) };
    }
  }

  private elementsOf({ list, first, count, start, end }: Piece): unknown[] {
    const elements = this.parse(`[${this.body.toString('utf8', start, end)}]`);
    if (!Array.isArray(elements) || elements.length !== count) throw notJson(this.body);
    elements.forEach((element, i) => this.textCheck.check(element, [list, first + i], 3));
    return elements as unknown[];
  }

  private parse(text: string): unknown {
    try {
      return parseJson(text);
    } catch (error) {
      throw error instanceof InvalidJsonError ? notJson(this.body) : error;
    }
  }
}

function shapeViolations(envelope: unknown, names: readonly string[]): Violation[] {
  if (!isJsonObject(envelope)) {
    return [{ path: '', rule: 'isObject', message: 'the body must be an object' }];
  }
  return names
    .filter((name) => !isListOrAbsent(Object.hasOwn(envelope, name) ? envelope[name] : null))
    .map((name) => ({ path: name, rule: 'isArray', message: `${name} must be an array of elements` }));
}

function isListOrAbsent(value: unknown): boolean {
  return value === null || Array.isArray(value);
}

function splitFault({ kind, path, message }: JsonSplitFault, body: Buffer): Error {
  if (kind === 'notJson') return notJson(body);
  return invalid([{ path, rule: 'isReadable', message: `${path === '' ? 'the body' : path} ${message}` }]);
}

/** As every other route says it. */
function notJson(body: Buffer): Error {
  if (!isUtf8(body)) return invalid([{ path: '', rule: 'isUtf8', message: 'the body must be UTF-8' }]);
  return invalid([{ path: '', rule: 'isJson', message: 'the body must be valid JSON' }]);
}
