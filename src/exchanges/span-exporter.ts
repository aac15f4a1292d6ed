import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Counter, type Registry } from 'prom-client';
import type { Env } from '../config/env.js';
import { serviceVersion } from '../config/version.js';
import { isJsonObject } from '../contracts/common/json.js';
import type { ExchangeRecord } from './exchange-record.js';
import { attribute, spanOf } from './span.rules.js';

/** Spans that wait for the collector. Later ones are dropped. */
const MAX_WAITING = 5_000;
const MAX_POSTED = 512;
/** Of one post, answer included. */
const POST_MS = 10_000;
const MAX_ATTEMPTS = 3;
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;
/** An answer is not read beyond this size. */
const MAX_ANSWER_BYTES = 65_536;
/** The collector is away for a moment. OTLP names these statuses. */
const RETRIED = new Set([429, 502, 503, 504]);

export type SpanSettings = Pick<
  Env,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES' | 'OTEL_SERVICE_NAME'
>;

/**
 * Posts a span of each exchange to a collector (OTLP over HTTP, as JSON). Nothing waits for it: what a slow collector does not
 * take is dropped and counted.
 */
export class SpanExporter {
  private readonly logger = new Logger('Spans');
  private readonly stop = new AbortController();
  private readonly exported: Counter;
  private readonly dropped: Counter;
  private readonly url: string;
  private waiting: object[] = [];
  private posting: Promise<void> | undefined;

  constructor(
    private readonly settings: SpanSettings,
    registry: Registry,
  ) {
    this.url = `${(settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? '').replace(/\/+$/, '')}/v1/traces`;
    const registers = [registry];
    this.exported = new Counter({ name: 'spans_exported_total', help: 'Spans that the collector took', registers });
    this.dropped = new Counter({
      name: 'spans_dropped_total',
      help: 'Spans that were not exported: too many waited, or the collector was away or refused them',
      registers,
    });
  }

  add(record: ExchangeRecord): void {
    const span = spanOf(record);
    if (span === undefined) return;
    if (this.waiting.length >= MAX_WAITING) this.dropped.inc();
    else this.waiting.push(span);
  }

  /** Called after each batch of exchanges. Returns at once. */
  post(): void {
    if (this.waiting.length > 0) this.posting ??= this.postAll().finally(() => (this.posting = undefined));
  }

  /** Posts what waits, for at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    this.post();
    await Promise.race([this.posting, delay(withinMs, undefined, { ref: false })]);
    this.dropped.inc(this.waiting.length);
    this.waiting = [];
    this.stop.abort();
  }

  /** Never rejects. */
  private async postAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const spans = this.waiting.splice(0, MAX_POSTED);
      const rejected = await this.postSpans(spans);
      this.exported.inc(spans.length - rejected);
      this.dropped.inc(rejected);
    }
  }

  /** Returns how many spans the collector did not take. */
  private async postSpans(spans: readonly object[]): Promise<number> {
    const body = JSON.stringify(this.requestOf(spans));
    for (let attempt = 1; ; attempt++) {
      const result = await this.postOnce(body).catch((error: unknown) => (error as Error).message);
      if (typeof result === 'number') return Math.min(result, spans.length);
      const retryMs = typeof result === 'string' ? RETRY_MS : result.retryMs;
      if (retryMs === undefined || attempt === MAX_ATTEMPTS || this.stop.signal.aborted) {
        const reason = typeof result === 'string' ? result : `it answered ${result.status}`;
        this.logger.warn(`the collector of OTEL_EXPORTER_OTLP_ENDPOINT took no spans: ${reason}`);
        return spans.length;
      }
      await delay(retryMs, undefined, { ref: false, signal: this.stop.signal }).catch(() => undefined);
    }
  }

  /** The number of spans that a collector rejected, or the status with which it refused all. */
  private async postOnce(body: string): Promise<number | { readonly status: number; readonly retryMs?: number }> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: {
        ...Object.fromEntries(this.settings.OTEL_EXPORTER_OTLP_HEADERS ?? []),
        'Content-Type': 'application/json',
      },
      body,
      // A redirect would receive the headers.
      redirect: 'manual',
      signal: AbortSignal.any([this.stop.signal, AbortSignal.timeout(POST_MS)]),
    });
    const { status } = response;
    const text = await startOf(response);
    if (status >= 200 && status < 300) return rejectedIn(text);
    if (!RETRIED.has(status)) return { status };
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    return { status, retryMs: seconds >= 0 ? Math.min(seconds * 1_000, MAX_RETRY_MS) : RETRY_MS };
  }

  private requestOf(spans: readonly object[]): object {
    const { OTEL_RESOURCE_ATTRIBUTES: given = [], OTEL_SERVICE_NAME: name } = this.settings;
    const attributes = new Map([['service.name', 'haulbridge'], ['service.version', serviceVersion()], ...given]);
    if (name !== undefined) attributes.set('service.name', name);
    const resource = { attributes: [...attributes].map(([key, value]) => attribute(key, value)) };
    return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'haulbridge' }, spans }] }] };
  }
}

async function startOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // The end of the loop cancels the rest.
    if (bytes > MAX_ANSWER_BYTES) return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `partialSuccess` of the answer. An answer that cannot be read rejects nothing. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { readonly partialSuccess?: unknown };
    const rejected = isJsonObject(partialSuccess) ? Number(partialSuccess['rejectedSpans'] ?? 0) : 0;
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}
