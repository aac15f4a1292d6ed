import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { isJsonObject } from '../contracts/common/json.js';
import { uuidv7 } from '../core/database/uuid.js';
import { BodyCapture, collectedBytes, keptBody } from '../core/http/body-capture.js';
import { SCENARIO_HEADER } from '../core/http/call.js';
import {
  callContext,
  NO_OUTBOUND_LOG,
  type OpenCall,
  type OutboundCall,
  type OutboundLog,
} from '../core/outbound/outbound-log.js';
import type { Headers } from './exchange-record.js';
import { ExchangeLog } from './exchange-log.service.js';

/** Records the calls to partners, also those that never reach them. */
@Injectable()
export class OutboundCapture implements OutboundLog {
  constructor(
    private readonly log: ExchangeLog,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>,
  ) {}

  begin(call: OutboundCall): OpenCall {
    return this.log.isOn ? this.open(call) : NO_OUTBOUND_LOG.begin(call);
  }

  private open(call: OutboundCall): OpenCall {
    const id = uuidv7();
    const started = performance.now();
    const context = callContext();
    const body = new BodyCapture(call.isFile === true ? 0 : collectedBytes(this.log.maxBodyBytes));
    let fileBytes = 0;
    let status = 0;
    let headers: Headers | undefined;
    let isEnded = false;
    const ended = (failure?: string): void => {
      if (isEnded) return;
      isEnded = true;
      context?.onEnd?.({ id, status, failure });
      const { host, path, query } = addressOf(call.url);
      const requestBody =
        call.body === undefined ? undefined : keptBody(call.body, collectedBytes(this.log.maxBodyBytes));
      this.log.add({
        id,
        direction: 'outbound',
        standing: 'known',
        address: '',
        interface: call.interface,
        route: call.route,
        method: call.method,
        path,
        isLink: call.isFile === true,
        haulerId: call.haulerId ?? context?.haulerId ?? null,
        connectionId: call.connectionId ?? context?.connectionId ?? null,
        apiKeyId: null,
        keyPrefix: null,
        requestId: call.headers['X-Request-Id'] ?? null,
        status,
        failure,
        durationMs: Math.round((performance.now() - started) * 10) / 10,
        requestBytes: requestBody?.sizeBytes ?? 0,
        responseBytes: call.isFile === true ? fileBytes : body.wireBytes,
        // Without a sandbox of ours a partner could hide its failures by this header.
        scenario: this.env.SANDBOX ? headers?.[SCENARIO_HEADER.toLowerCase()]?.toString() : undefined,
        replayOf: context?.replayOf,
        requestHeaders: { host, ...call.headers },
        requestBody,
        input: call.body === undefined ? query : parsed(call.body),
        responseHeaders: headers,
        responseBody: call.isFile === true ? undefined : body.kept(),
        inRevision: false,
        references: context?.references ?? [],
        secrets: call.secrets ?? [],
      });
    };
    return {
      responded: (code, received) => {
        status = code;
        headers = { ...received } as Headers;
      },
      received: (chunk) => body.add(chunk),
      receivedEncoded: (chunk) => body.addEncoded(chunk),
      counted: (bytes) => void (fileBytes += bytes),
      ended,
    };
  }
}

function addressOf(url: string): { host: string; path: string; query: object } {
  if (!URL.canParse(url)) return { host: '', path: '[invalid address]', query: {} };
  const { host, pathname, search, searchParams } = new URL(url);
  return { host, path: pathname + search, query: Object.fromEntries(searchParams) };
}

function parsed(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return isJsonObject(value) ? value : undefined;
}
