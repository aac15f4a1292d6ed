import { isUtf8 } from 'node:buffer';
import { Breather } from '../chunked-work/breather.js';
import type { Piece } from '../chunked-work/record-cutter.js';
import { JsonSplitFault } from '../chunked-work/json-split-fault.js';
import { splitJson } from '../chunked-work/split-json.js';
import { withoutMark } from '../contracts/common/json.js';
import { type DtoClass, readerOf } from '../contracts/common/reader.js';
import type { Violation } from '../contracts/common/violation.js';
import { saidIn } from './error-body.js';
import { SENTENCES } from './failure-sentences.js';
import type { KeyScrubber } from './key-scrubber.js';
import { PartnerFailure } from './partner-failure.js';
import { shallowJson } from './shallow-json.js';

/** The largest body that is parsed at one go: some 20 ms. What may be larger is read by `records`. */
const MAX_WHOLE_BYTES = 4_194_304;

/** Records of one list that lie side by side in the answer. */
interface RecordBatch {
  /** `data.materials` */
  readonly list: string;
  /** Index of `records[0]` in its list. */
  readonly first: number;
  /** As JSON has them. */
  readonly records: readonly unknown[];
  /** It is one record of more than 1 MiB, which is not read: `null` stands in its place. */
  readonly oversized: boolean;
}

export interface RecordAnswer {
  /** The whole answer with its lists empty; a list that the partner did not send is not there. */
  readonly envelope: unknown;
  /** All records, in the order of the answer. May be read once more from the beginning. */
  batches(): AsyncGenerator<RecordBatch>;
}

/**
 * A partner's answer. What is read out of it holds no key of ours; only `bytes` are as they came, for digests, and are
 * not to be stored or shown.
 */
export class PartnerAnswer {
  constructor(
    readonly status: number,
    readonly etag: string | undefined,
    readonly bytes: Buffer,
    private readonly host: string,
    private readonly scrubber: KeyScrubber,
  ) {}

  /**
   * The whole body; what is nested deeper than 32 is a 0, so that it spoils nothing but itself. Throws `PartnerFailure`:
   * `notJson`, or `tooLarge` beyond 4 MiB.
   */
  json(): unknown {
    if (this.bytes.length > MAX_WHOLE_BYTES) {
      throw new PartnerFailure('tooLarge', SENTENCES.tooLarge(this.host, MAX_WHOLE_BYTES));
    }
    if (!isUtf8(this.bytes)) throw this.notJson();
    return this.parse(withoutMark(shallowJson(this.bytes).toString('utf8')));
  }

  /**
   * The body, or a part of it, as a DTO: unknown fields are dropped, a violation is the partner's breach and is named by
   * its path.
   */
  read<T extends object>(type: DtoClass<T>, value: unknown = this.json()): T {
    const violations: Violation[] = [];
    const result = readerOf(type)(value, '', violations);
    if (violations.length > 0) throw this.breach(violations);
    return result;
  }

  /**
   * The records of the named lists (`data.sites`) of a body of any size, in batches, without blocking the event loop.
   * A document that is no JSON anywhere fails there: apply nothing before the last batch has come.
   */
  async records(lists: readonly string[], signal?: AbortSignal): Promise<RecordAnswer> {
    const split = await splitJson(this.bytes, lists, signal).catch((error: unknown) => {
      throw error instanceof JsonSplitFault ? this.splitFailure(error) : error;
    });
    const parsePiece = (piece: Piece) => this.parsePiece(piece);
    return {
      envelope: this.parse(split.envelope),
      async *batches() {
        const breather = new Breather();
        for (const piece of split.pieces) {
          signal?.throwIfAborted();
          const { list, first, oversized } = piece;
          yield { list, first, oversized, records: parsePiece(piece) };
          if (breather.isDue) await breather.rest();
        }
      },
    };
  }

  /** The answer is JSON and not what the contract says. */
  breach(violations: readonly Violation[]): PartnerFailure {
    const clean = violations.map((violation) => ({
      ...violation,
      path: this.scrubber.sentence(violation.path),
      message: this.scrubber.sentence(violation.message),
    }));
    return new PartnerFailure('breach', SENTENCES.breach(this.host, clean), { violations: clean, status: this.status });
  }

  /** `success: false` in an answer of 200: what the partner says of it tells more than what the answer lacks. */
  refusal(body: unknown): PartnerFailure {
    const said = saidIn(body, this.scrubber);
    const message = `success must be true in an answer with status ${this.status}${said === '' ? '' : `, and it says${said}`}`;
    return this.breach([{ path: 'success', rule: 'isTrue', message }]);
  }

  /** Of a record that is nested too deep the rest is read, as of an element of a list that is parsed at one go. */
  private parsePiece({ start, end, count, oversized, deep }: Piece): unknown[] {
    if (oversized) return [null];
    const bytes = this.bytes.subarray(start, end);
    const records = this.parse(`[${(deep ? shallowJson(bytes) : bytes).toString('utf8')}]`) as unknown[];
    if (records.length !== count) throw this.notJson();
    return records;
  }

  private parse(text: string): unknown {
    try {
      return this.scrubber.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw this.notJson();
      throw error;
    }
  }

  private splitFailure({ kind, path, message }: JsonSplitFault): PartnerFailure {
    if (kind === 'notJson') return this.notJson();
    return this.breach([{ path, rule: 'isRecords', message: `${path === '' ? 'the body' : path} ${message}` }]);
  }

  private notJson(): PartnerFailure {
    const beginning = this.bytes.toString('latin1', 0, 512).trimStart();
    const sentence =
      beginning === '' && this.bytes.length < 512
        ? SENTENCES.empty(this.host)
        : /^(\xef\xbb\xbf)?\s*<(!doctype|html|head|body|\?xml)/i.test(beginning)
          ? SENTENCES.html(this.host)
          : SENTENCES.notJson(this.host);
    return new PartnerFailure('notJson', sentence, { status: this.status });
  }
}
