import type { Readable } from 'node:stream';
import type { HttpService } from '@nestjs/axios';
import { AxiosError, type RawAxiosResponseHeaders } from 'axios';
import { AddressRefused } from '../outbound/address-guard.js';
import { Deadline } from './deadline.js';
import { SENTENCES } from './failure-sentences.js';
import { PartnerFailure } from './partner-failure.js';
import type { PartnerSettings } from './partner-settings.js';
import type { Place } from './places.js';
import { BodyTooLarge, readBody, readIfSmall, UnknownCoding } from './read-body.js';

/** An error with a larger body is only worth its status. */
const MOST_ERROR_BYTES = 65_536;

export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly accept: readonly number[];
  readonly signal: AbortSignal | undefined;
  readonly place: Place | undefined;
}

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; of a repeated one the first. */
  readonly header: (name: string) => string | undefined;
  readonly bytes: Buffer;
}

/**
 * One request and its whole answer, within `answerMs` however it trickles; a wait for a place is not the partner's. Every
 * failure of the transport is a `PartnerFailure`; the caller's own abort is thrown as its reason.
 */
export async function exchange(http: HttpService, request: Exchange, settings: PartnerSettings): Promise<RawAnswer> {
  const { host } = new URL(request.url);
  const deadline = new Deadline(settings.answerMs);
  const signal = request.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, request.signal]);
  let begun = false;
  try {
    signal.throwIfAborted();
    const response = await http.axiosRef.request<Readable>({
      url: request.url,
      method: request.method,
      headers: request.headers,
      data: request.body,
      signal,
    });
    begun = true;
    const header = headerOf(response.headers);
    const enter = () => deadline.aside(async () => request.place?.take(request.signal));
    const reading = { contentEncoding: header('content-encoding'), signal, enter };
    const bytes = request.accept.includes(response.status)
      ? await readBody(response.data, { ...reading, maxBytes: settings.maxBytes })
      : await readIfSmall(response.data, { ...reading, maxBytes: MOST_ERROR_BYTES });
    return { status: response.status, header, bytes };
  } catch (error) {
    if (request.signal?.aborted === true) throw request.signal.reason;
    throw transportFailure(error, { host, begun, timedOut: deadline.signal.aborted, settings });
  } finally {
    deadline.clear();
  }
}

interface Circumstances {
  readonly host: string;
  readonly begun: boolean;
  readonly timedOut: boolean;
  readonly settings: PartnerSettings;
}

function transportFailure(error: unknown, { host, begun, timedOut, settings }: Circumstances): PartnerFailure {
  if (timedOut) return new PartnerFailure('timedOut', SENTENCES.timedOut(host, settings.answerMs));
  if (error instanceof BodyTooLarge) return new PartnerFailure('tooLarge', SENTENCES.tooLarge(host, error.maxBytes));
  if (error instanceof UnknownCoding) return new PartnerFailure('breach', SENTENCES.coding(host));
  const refused = refusalIn(error);
  if (refused !== undefined) return new PartnerFailure('addressRefused', refused.message);
  if (!begun && !(error instanceof AxiosError)) throw error;
  const { code } = error as { code?: unknown };
  if (code === 'Z_DATA_ERROR') return new PartnerFailure('notJson', SENTENCES.notJson(host));
  // A connection that was kept from an earlier call may break before a byte of this answer has come.
  if (begun || code === 'ECONNRESET' || code === 'EPIPE') return new PartnerFailure('broken', SENTENCES.broken(host));
  return new PartnerFailure('unreachable', SENTENCES.unreachable(host, typeof code === 'string' ? code : undefined));
}

/** The guard's refusal stands behind what axios and Node.js have made of it. */
function refusalIn(error: unknown): AddressRefused | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof AddressRefused) return cause;
  }
  return undefined;
}

function headerOf(headers: RawAxiosResponseHeaders): RawAnswer['header'] {
  return (name) => {
    const value: unknown = headers[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' ? first : undefined;
  };
}
