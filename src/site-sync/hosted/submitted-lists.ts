import type { Piece } from '../../chunked-work/record-cutter.js';
import { JsonSplitFault } from '../../chunked-work/json-split-fault.js';
import { type Split, splitJson } from '../../chunked-work/split-json.js';
import { JsonFault } from '../../contracts/common/json-fault.js';
import { isJsonObject, type JsonRead, readJson } from '../../contracts/common/json.js';
import { joinPath } from '../../contracts/common/text.js';
import { FURTHER_FAULTS, type Violation } from '../../contracts/common/violation.js';
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
  /** Throws `invalid` where the text is no JSON. */
  batches(): Generator<Batch<Name>>;
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/** A body of any size is never parsed at one go; what is no JSON is `invalid`, and so is what decision 8 forbids. */
export async function readLists<const Name extends string>(
  body: Buffer,
  names: readonly Name[],
): Promise<SubmittedLists<Name>> {
  const split = await splitJson(body, names).catch((error: unknown) => {
    throw error instanceof JsonSplitFault ? splitFault(error) : error;
  });
  const violations = shapeViolations(
    read(Buffer.from(split.envelope), (path) => path),
    names,
  );
  return { violations, batches: () => batchesOf<Name>(body, split, violations) };
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

function* batchesOf<Name extends string>(body: Buffer, split: Split, violations: Violation[]): Generator<Batch<Name>> {
  for (const piece of split.pieces) {
    if (piece.oversized) {
      const path = joinPath(piece.list, piece.first);
      violations.push({ path, rule: 'maxSize', message: `${path} must not be larger than 1 MiB` });
      continue;
    }
    yield { list: piece.list as Name, first: piece.first, elements: elementsOf(body, piece) };
  }
}

function elementsOf(body: Buffer, { list, first, count, start, end }: Piece): unknown[] {
  const text = Buffer.concat([OPEN, body.subarray(start, end), CLOSE]);
  // In the piece a path begins with the place in the piece.
  const place = (path: string) => path.replace(/^\[(\d+)\]/, (_all, at: string) => joinPath(list, first + Number(at)));
  const elements = read(text, place, 2);
  if (Array.isArray(elements) && elements.length === count) return elements as unknown[];
  throw invalid([{ path: '', rule: 'isJson', message: 'the body must be valid JSON' }]);
}

function read(text: Buffer, place: (path: string) => string, depth = 1): unknown {
  const { value, faults, areMore } = parsed(text, depth);
  const violations = faults.map((fault) => fault.violationAt(place(fault.path)));
  if (violations.length > 0) throw invalid(areMore ? [...violations, FURTHER_FAULTS] : violations);
  return value;
}

function parsed(text: Buffer, depth: number): JsonRead {
  try {
    return readJson(text, depth);
  } catch (error) {
    // What is no JSON has no place in it.
    if (error instanceof JsonFault) throw invalid([error.violation]);
    throw error;
  }
}

function splitFault({ kind, path, message }: JsonSplitFault): Error {
  const rule = kind === 'notJson' ? 'isJson' : 'isReadable';
  return invalid([{ path, rule, message: `${path === '' ? 'the body' : path} ${message}` }]);
}
