import { decodeUtf8, parseJson } from '../contracts/common/json.js';

export interface KitRequest {
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly peekBytes?: number;
  readonly maxBytes?: number;
}

export interface KitAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The server gave no complete HTTP answer; the message says why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** The answer could not be had for a reason that says nothing about the server; its rules are not proven. */
export class UnprovenError extends Error {
  override readonly name = 'UnprovenError';
}

/** Sends one request. Throws `NoAnswerError` or `UnprovenError`. */
export type Send = (request: KitRequest) => Promise<KitAnswer>;

/** A request with its answer, or with the reason why there is none. */
export class Exchange {
  private parsed: { readonly value?: unknown; readonly fault?: string } | undefined;

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

  get text(): string {
    return this.answer?.body.toString('utf8') ?? '';
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
    return /^application\/json(\s*;|\s*$)/i.test(this.header('content-type') ?? '');
  }

  header(name: string): string | undefined {
    return this.answer?.headers[name];
  }

  private parse() {
    if (this.parsed === undefined) {
      try {
        this.parsed = { value: parseJson(decodeUtf8(this.answer?.body ?? Buffer.alloc(0))) };
      } catch (error) {
        this.parsed = { fault: (error as Error).message };
      }
    }
    return this.parsed;
  }
}
