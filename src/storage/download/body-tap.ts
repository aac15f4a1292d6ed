import type { IncomingMessage } from 'node:http';
import type { OnReadOpts } from 'node:net';
import { alignedBuffer } from '../direct-io.js';
import type { Pace } from './pace.js';

/** Some bytes of a body. Their memory is used again after `release`. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly release: () => void;
}

const BUFFER_BYTES = 1024 * 1024;
/** Room for bytes behind the announced end, so that they are seen also where the body fills its last buffer. */
const CAPACITY = BUFFER_BYTES + 4096;
/** So much at most goes through the parser, for which it has to be copied. */
const HEAD_BYTES = 16 * 1024;
/** It is read to the end of the buffer, so that the body can begin at the buffer's beginning. */
const HEAD_AT = CAPACITY - HEAD_BYTES;
/** So many filled buffers may wait; then the host has to. */
const READY = 1;

/** Shared by all downloads, 32 MiB at most: to allocate anew for each would keep the garbage collector at work. */
const FREE_BUFFERS = 32;
const free: Buffer<ArrayBuffer>[] = [];
const takeBuffer = (): Buffer<ArrayBuffer> => free.pop() ?? alignedBuffer(CAPACITY);

/** To be called when the bytes are done with; called again it does nothing, since someone else may have the buffer. */
function releaseOf(buffer: Buffer<ArrayBuffer>): () => void {
  let held = true;
  return () => {
    if (held && free.length < FREE_BUFFERS) free.push(buffer);
    held = false;
  };
}

/**
 * Reads a connection into buffers that are used over and over. Up to the head of the answer its bytes go the usual way,
 * through Node's HTTP parser; a body of known length is then taken as it comes. Nothing is allocated for a read then,
 * and nothing collected, which is half of the work of a download (measured with 200 files of 5 MB).
 */
export class BodyTap {
  /** For `http.request`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#window(),
    callback: (bytes) => this.#arrived(bytes),
  };
  readonly #parse: (data: Buffer) => void;
  #buffer = takeBuffer();
  #fill = 0;
  /** Whether the connection reads to where it was told before `take`. */
  #atHead = true;
  readonly #ready: Chunk[] = [];
  /** Undefined as long as the parser reads. */
  #left: number | undefined;
  #pace: Pace | undefined;
  #failure: Error | undefined;
  #paused = false;
  #used = false;
  #wake = (): void => undefined;

  /** `parse` hands bytes to the HTTP parser of the connection. */
  constructor(parse: (data: Buffer) => void) {
    this.#parse = parse;
  }

  /** Whether the connection really reads this way; else all of the body goes through the parser. */
  get used(): boolean {
    return this.#used;
  }

  /**
   * From now on nothing goes to the parser: `length` bytes make the body, and it has seen `first` of them. These are
   * copied, so that every buffer handed on begins at a multiple of its size.
   */
  take(response: IncomingMessage, length: number, first: Buffer, pace: Pace): void {
    this.#left = length - first.length;
    this.#fill = first.copy(this.#buffer);
    if (this.#left <= 0) this.#handOn();
    this.#pace = pace;
    // The parser may have paused the connection for us.
    this.#paused = true;
    const fail = (error?: Error): void => {
      this.#failure ??= error ?? Object.assign(new Error('closed'), { code: 'ECONNRESET' });
      if (this.#fill > 0) this.#handOn();
      this.#wake();
    };
    response.once('error', fail).once('close', () => fail());
    if (response.destroyed) fail(response.errored ?? undefined);
    // Nothing is read any more, so that the last buffer is free: 128 KiB a file would be 1 GB for the collector in 8,000.
    response.socket.once('close', () => void (this.#fill === 0 && releaseOf(this.#buffer)()));
  }

  /** What was taken, up to the end that was announced, or until the connection fails. */
  async *chunks(response: IncomingMessage): AsyncGenerator<Chunk> {
    for (;;) {
      const chunk = this.#ready.shift();
      if (chunk !== undefined) yield chunk;
      else if ((this.#left ?? 0) <= 0) return;
      else if (this.#failure !== undefined) throw this.#failure;
      else await this.#more(response);
    }
  }

  #window(): Buffer {
    if (this.#left === undefined) return this.#buffer.subarray(HEAD_AT);
    const last = this.#fill + this.#left <= BUFFER_BYTES;
    return this.#buffer.subarray(this.#fill, last ? CAPACITY : BUFFER_BYTES);
  }

  #arrived(bytes: number): boolean {
    if (this.#left === undefined) {
      this.#used = true;
      this.#parse(Buffer.from(this.#buffer.subarray(HEAD_AT, HEAD_AT + bytes)));
      return true;
    }
    this.#pace?.heard(bytes);
    if (this.#atHead) this.#buffer.copyWithin(this.#fill, HEAD_AT, HEAD_AT + bytes);
    this.#atHead = false;
    this.#fill += bytes;
    // More than was announced is handed on as well: whoever counts the bytes refuses it.
    this.#left -= bytes;
    if (this.#left <= 0 || this.#fill >= BUFFER_BYTES) this.#handOn();
    // TLS hands on what it has decrypted after it was told to stop: stopped is stopped, until someone resumes.
    this.#paused ||= this.#ready.length >= READY;
    return !this.#paused;
  }

  #handOn(): void {
    const buffer = this.#buffer;
    this.#ready.push({ bytes: buffer.subarray(0, this.#fill), release: releaseOf(buffer) });
    this.#buffer = takeBuffer();
    this.#fill = 0;
    this.#wake();
  }

  async #more(response: IncomingMessage): Promise<void> {
    this.#pace?.wait();
    await new Promise<void>((wake) => {
      this.#wake = wake;
      if (this.#paused) response.socket.resume();
      this.#paused = false;
    });
    this.#pace?.rest();
  }
}
