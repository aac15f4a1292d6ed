import { createHash, type Hash } from 'node:crypto';

/** Redaction must see more of a body than is stored: a secret may stand across the place of the cut. */
const MARGIN_BYTES = 65_536;

/** A body as far as it is kept. */
export interface KeptBody {
  readonly content: string | Buffer;
  /** Size on the wire. */
  readonly sizeBytes: number;
  /** SHA-256 on the wire, in hex. Absent if it can be computed from `content`. */
  readonly sha256?: string | undefined;
  readonly truncated: boolean;
}

/** How much of a body is collected where `maxBytes` of it are stored. */
export const collectedBytes = (maxBytes: number): number => (maxBytes === 0 ? 0 : maxBytes + MARGIN_BYTES);

/** Collects a body while it passes: the beginning up to a limit, and size and SHA-256 of the whole. */
export class BodyCapture {
  sizeBytes = 0;
  /** The body, while it is a single text within the limit, as most are. */
  private text: string | undefined;
  private readonly chunks: Buffer[] = [];
  private keptBytes = 0;
  private hash: Hash | undefined;
  private wire: { readonly hash: Hash; bytes: number } | undefined;

  constructor(private readonly maxBytes: number) {}

  add(chunk: unknown, encoding?: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    if (this.sizeBytes === 0 && typeof chunk === 'string' && encodingOf(encoding) === 'utf8') {
      const size = Buffer.byteLength(chunk);
      if (size <= this.maxBytes) {
        this.text = chunk;
        this.sizeBytes = size;
        return;
      }
    } else if (this.text !== undefined) {
      const { text } = this;
      this.text = undefined;
      this.sizeBytes = 0;
      this.add(Buffer.from(text));
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.from(chunk);
    this.sizeBytes += bytes.length;
    const free = this.maxBytes - this.keptBytes;
    if (this.hash === undefined && bytes.length > free) {
      this.hash = createHash('sha256');
      for (const kept of this.chunks) this.hash.update(kept);
    }
    this.hash?.update(bytes);
    if (free <= 0) return;
    const kept = bytes.length > free ? Buffer.from(bytes.subarray(0, free)) : bytes;
    this.chunks.push(kept);
    this.keptBytes += kept.length;
  }

  /** A part of the body with its content coding: size and SHA-256 are of these bytes. */
  addEncoded(chunk: Buffer): void {
    this.wire ??= { hash: createHash('sha256'), bytes: 0 };
    this.wire.hash.update(chunk);
    this.wire.bytes += chunk.length;
  }

  /** Size with the content coding. */
  get wireBytes(): number {
    return this.wire?.bytes ?? this.sizeBytes;
  }

  kept(): KeptBody | undefined {
    if (this.sizeBytes === 0) return undefined;
    if (this.text !== undefined) return keptBody(this.text, this.maxBytes);
    const [first = Buffer.alloc(0), ...others] = this.chunks;
    const truncated = this.sizeBytes > this.keptBytes;
    const whole = others.length === 0 ? first : Buffer.concat(this.chunks);
    return {
      content: truncated ? withoutPartialCharacter(whole) : whole,
      sizeBytes: this.wireBytes,
      sha256: (this.wire?.hash ?? this.hash)?.digest('hex'),
      truncated,
    };
  }
}

/** The same for a body that is in memory. */
export function keptBody(content: string | Buffer, maxBytes: number): KeptBody | undefined {
  const sizeBytes = Buffer.byteLength(content);
  if (sizeBytes === 0) return undefined;
  if (sizeBytes <= maxBytes) return { content, sizeBytes, truncated: false };
  // Without a copy of the whole body: many large ones may be refused at once.
  const head = typeof content === 'string' ? Buffer.from(content.slice(0, maxBytes)) : content;
  return {
    content: withoutPartialCharacter(Buffer.from(head.subarray(0, maxBytes))),
    sizeBytes,
    sha256: createHash('sha256').update(content).digest('hex'),
    truncated: true,
  };
}

const encodingOf = (encoding: unknown): BufferEncoding =>
  typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';

/** Without the beginning of a UTF-8 character at the end. */
export function withoutPartialCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}
