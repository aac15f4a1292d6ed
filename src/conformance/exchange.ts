import { decodeUtf8, parseJson } from '../contracts/common/json.js';

export interface KitRequest {
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** On the one connection that stays open; any other request has a connection of its own. */
  readonly isKept?: boolean;
  /** A file behind a link: redirects are followed, and `peekBytes` ends the reading. */
  readonly isFile?: boolean;
  readonly peekBytes?: number;
  /** Limit of the platform for this answer. */
  readonly maxBytes?: number;
}

export interface KitAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The answer is larger than this limit of the platform; its body was not kept. */
  readonly exceeds?: number;
  /** Why a file ended early. */
  readonly cut?: string;
}

/** The server gave no complete HTTP answer; the message says why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/**
 * A request cannot be sent or a check cannot decide, for a reason that does not concern the server: data is missing, or the
 * kit may not send the request. The rules are then not proven, with the message as the reason.
 */
export class UnprovenError extends Error {
  override readonly name = 'UnprovenError';
}

/** Sends one request. Throws `NoAnswerError` or `UnprovenError`. */
export type Send = (request: KitRequest) => Promise<KitAnswer>;

export const isJsonType = (contentType: string | undefined): boolean =>
  /^application\/json(\s*;|\s*$)/i.test(contentType ?? '');

/** A request with its answer, or with the reason why there is none. */
export class Exchange {
  private parsed: ParsedJson | undefined;

  constructor(
    readonly request: KitRequest,
    private readonly result: KitAnswer | NoAnswerError,
  ) {}

  get failure(): string | undefined {
    return this.result instanceof NoAnswerError ? this.result.message : undefined;
  }

  get answer(): KitAnswer | undefined {
    return this.result instanceof NoAnswerError ? undefined : this.result;
  }

  get status(): number {
    return this.answer?.status ?? 0;
  }

  /** The body as JSON; undefined where it is none. */
  get json(): unknown {
    return this.parse().value;
  }

  /** Why the body is not JSON. */
  get jsonFault(): string | undefined {
    return this.parse().fault;
  }

  get isDeclaredJson(): boolean {
    return isJsonType(this.header('content-type'));
  }

  header(name: string): string | undefined {
    return this.answer?.headers[name];
  }

  private parse(): ParsedJson {
    this.parsed ??= parsedJson(this.answer?.body ?? Buffer.alloc(0));
    return this.parsed;
  }
}

/** A body as JSON, or why it is not JSON. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly fault?: string;
}

export function parsedJson(body: Buffer): ParsedJson {
  try {
    return { value: parseJson(decodeUtf8(body)) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
