import { isUtf8 } from 'node:buffer';
import { isDeeper, MAX_JSON_DEPTH, withoutByteOrderMark } from '../contracts/common/json.js';
import { type DtoClass, readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { MAX_RECORD_BYTES, MAX_WHOLE_BYTES } from '../contracts/common/answer-limits.js';
import { type JsonRecord, JsonRecordStream, JsonStreamError } from '../core/json/json-record-stream.js';
import { maskSecretsInData } from '../core/observability/known-secrets.js';
import { redactText } from '../core/observability/redaction.js';
import { errorDetail, PartnerFailure, SENTENCES } from './partner-failure.js';

/** Size of the beginning of a body that shows whether it is an HTML page. */
const BEGINNING_BYTES = 512;

/** One element of a list in a streamed answer. */
export interface AnswerRecord {
  /** `data.materials` */
  readonly list: string;
  readonly index: number;
  /** The parsed element; null if it is too large. */
  readonly value: unknown;
  /** The element as JSON, without our keys; undefined if it is larger than 1 MiB. */
  readonly text: string | undefined;
}

/** An answer whose body is still arriving. No text or value that it returns contains a key of ours. */
export class PartnerAnswer {
  private readonly chunks: AsyncIterator<Buffer>;
  private readonly prefetched: Buffer[] = [];
  private beginning = Buffer.alloc(0);
  /** The document with the lists of `records` empty, once all records were read. */
  envelope: unknown;

  constructor(
    readonly status: number,
    private readonly host: string,
    private readonly scrubber: KeyScrubber,
    body: AsyncIterable<Buffer>,
    private readonly maxBytes: number,
    readonly contentType?: string,
  ) {
    this.chunks = body[Symbol.asyncIterator]();
  }

  /** Waits until this many bytes, or a smaller body, have arrived. Returns whether the whole body has arrived. */
  async prefetch(bytes: number): Promise<boolean> {
    for (let size = 0; size < bytes;) {
      const chunk = await this.nextChunk();
      if (chunk === undefined) return true;
      this.prefetched.push(chunk);
      size += chunk.length;
    }
    return false;
  }

  /** Whether the body begins as a JSON object does, which every answer of the contracts is. */
  async beginsAsObject(): Promise<boolean> {
    await this.prefetch(BEGINNING_BYTES);
    return /^(\xef\xbb\xbf)?\s*\{/.test(this.beginning.toString('latin1'));
  }

  /** Reads the rest of the body and discards it. Throws `PartnerFailure`. */
  async discard(): Promise<void> {
    for await (const chunk of this.body()) void chunk;
  }

  /**
   * The whole body; every value that is nested deeper than 32 is replaced by 0. Throws `PartnerFailure` of kind `notJson`, or
   * `tooLarge` beyond 4 MiB.
   */
  async json(): Promise<unknown> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.body()) {
      size += chunk.length;
      if (size > MAX_WHOLE_BYTES) {
        throw new PartnerFailure('tooLarge', SENTENCES.tooLarge(this.host, Math.min(MAX_WHOLE_BYTES, this.maxBytes)));
      }
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    if (!isUtf8(bytes)) throw this.notJson();
    return this.parsed(() => this.scrubber.parse(withoutByteOrderMark(bytes.toString('utf8'))));
  }

  /**
   * The elements of the named lists (`data.sites`) in batches, in constant memory. Throws `PartnerFailure`, possibly after
   * some batches: the caller must then undo its work.
   */
  async *records(lists: readonly string[]): AsyncGenerator<AnswerRecord[]> {
    const stream = new JsonRecordStream(lists);
    try {
      for await (const batch of stream.batches(this.body())) yield batch.map((record) => this.read(record));
      this.envelope = this.parsed(() => this.scrubber.parse(stream.envelope()));
    } catch (error) {
      throw error instanceof JsonStreamError ? this.streamFailure(error) : error;
    }
  }

  /** The envelope as a DTO. Throws `PartnerFailure` of kind `breach` with the path of each violation. */
  readEnvelope<T extends object>(type: DtoClass<T>): T {
    const violations: Violation[] = [];
    const result = readerOf(type)(this.envelope, '', violations);
    if (violations.length > 0) throw this.breach(violations);
    return result;
  }

  /** The answer is JSON and does not conform to the contract. */
  breach(violations: readonly Violation[]): PartnerFailure {
    const clean = violations.map((violation) => ({
      ...violation,
      path: this.scrubber.sentence(violation.path),
      message: this.scrubber.sentence(violation.message),
    }));
    return new PartnerFailure('breach', SENTENCES.breach(this.host, clean), { violations: clean, status: this.status });
  }

  /** `success: false` in an answer of 200: the partner's own error is more informative than the missing fields. */
  refusal(body: unknown): PartnerFailure {
    const detail = errorDetail(body, this.scrubber);
    const message = `success must be true in an answer with status ${this.status}${detail === '' ? '' : `, and it says${detail}`}`;
    return this.breach([{ path: 'success', rule: 'isTrue', message }]);
  }

  private async *body(): AsyncGenerator<Buffer> {
    yield* this.prefetched.splice(0);
    for (let chunk = await this.nextChunk(); chunk !== undefined; chunk = await this.nextChunk()) yield chunk;
  }

  private async nextChunk(): Promise<Buffer | undefined> {
    const next = await this.chunks.next();
    if (next.done === true) return undefined;
    if (this.beginning.length < BEGINNING_BYTES) {
      this.beginning = Buffer.concat([this.beginning, next.value.subarray(0, BEGINNING_BYTES)]);
    }
    return next.value;
  }

  private read({ list, index, text }: JsonRecord): AnswerRecord {
    if (text === undefined) return { list, index, value: null, text };
    return { list, index, ...this.parsed(() => this.scrubber.parseRecord(text)) };
  }

  private parsed<T>(parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      if (error instanceof SyntaxError) throw this.notJson();
      throw error;
    }
  }

  private streamFailure({ kind, path, message }: JsonStreamError): PartnerFailure {
    if (kind === 'notJson') return this.notJson();
    return this.breach([{ path, rule: 'isRecords', message: `${path === '' ? 'the body' : path} ${message}` }]);
  }

  private notJson(): PartnerFailure {
    const beginning = this.beginning.toString('latin1', 0, BEGINNING_BYTES).trimStart();
    const sentence =
      beginning === '' && this.beginning.length < BEGINNING_BYTES
        ? SENTENCES.empty(this.host)
        : /^(\xef\xbb\xbf)?\s*<(!doctype|html|head|body|\?xml)/i.test(beginning)
          ? SENTENCES.html(this.host)
          : SENTENCES.notJson(this.host);
    return new PartnerFailure('notJson', sentence, { status: this.status });
  }
}

/** The violation of a record that is too large to be read. */
export const recordTooLarge = (path: string): Violation => ({
  path,
  rule: 'maxSize',
  message: `${path} must not be larger than ${MAX_RECORD_BYTES / 1_048_576} MiB`,
});

/** A shorter key could be a word of the data. In sentences, shorter keys are removed as well. */
const MIN_KEY_LENGTH_IN_DATA = 8;

/** Removes our keys from everything that leaves this folder, because a partner may echo them (decision 18). */
export class KeyScrubber {
  private readonly keysInData: readonly string[];

  constructor(private readonly keys: readonly string[]) {
    this.keysInData = keys.filter((key) => key.length >= MIN_KEY_LENGTH_IN_DATA);
  }

  /** For messages and logs; the query of a link is removed as well, because it may be a signature. */
  sentence(text: string): string {
    return redactText(text, this.keys);
  }

  /** `JSON.parse` without our keys in names and values, and with 0 for a value that is nested deeper than 32. */
  parse(json: string): unknown {
    const value: unknown = JSON.parse(json);
    return this.mask(json) !== json || isDeeper(value, MAX_JSON_DEPTH) ? this.clean(value, MAX_JSON_DEPTH) : value;
  }

  /** The same for one record, with its JSON text. The depth is not checked, because readers visit only known fields. */
  parseRecord(json: string): { readonly value: unknown; readonly text: string } {
    const value: unknown = JSON.parse(json);
    // Searching the text is far cheaper than walking through the values.
    if (this.mask(json) === json) return { value, text: json };
    const clean = this.clean(value, MAX_JSON_DEPTH);
    return { value: clean, text: JSON.stringify(clean) };
  }

  private mask(text: string): string {
    return maskSecretsInData(text, this.keysInData);
  }

  private clean(value: unknown, levels: number): unknown {
    if (typeof value === 'string') return this.mask(value);
    if (typeof value !== 'object' || value === null) return value;
    if (levels === 0) return 0;
    if (Array.isArray(value)) return value.map((element) => this.clean(element, levels - 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [this.mask(name), this.clean(entry, levels - 1)]),
    );
  }
}
