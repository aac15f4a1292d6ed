import type { Response } from 'express';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { ListPagination } from '../../contracts/admin/list.dto.js';
import { maskJson } from '../observability/redaction.js';

/** Runs work that takes longer than a connection may be silent. The signal aborts when the caller leaves. */
export async function longWork<T>(response: Response, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { socket } = response;
  const silenceMs = socket?.timeout ?? 0;
  const left = new AbortController();
  const leave = () => left.abort();
  response.once('close', leave);
  socket?.setTimeout(0);
  try {
    return await work(left.signal);
  } finally {
    response.off('close', leave);
    socket?.setTimeout(silenceMs);
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A complete response with its own status and headers; a replay sends the same again (decision 16). */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Sets the status and headers on the response, and returns the body for Nest to send. */
export function send<Body>(response: Response, answer: Answer<Body>): Body {
  response.status(answer.status).set(answer.headers);
  return answer.body;
}

/** A body that is JSON text already. */
export function jsonText(response: Response, text: string): string {
  response.setHeader('Content-Type', JSON_TYPE);
  return text;
}

/** A streamed body. If it fails, the connection closes: Nest would report an error of the request. */
export function streamed(response: Response, body: Readable): StreamableFile {
  const file = new StreamableFile(body);
  return file.setErrorHandler((error) => {
    file.errorLogger(error);
    response.destroy();
  });
}

/** One page of a list whose elements are JSON texts, each fetched when the element before it has been sent. */
export interface JsonList {
  readonly data: AsyncIterable<string>;
  readonly pagination: Required<ListPagination>;
}

/** Streams `{ data, pagination }` element by element, so that memory does not grow with the page. Secrets are masked. */
export async function streamedList(response: Response, list: JsonList): Promise<StreamableFile> {
  const body = Readable.from(jsonPieces(list), { objectMode: false, highWaterMark: 1 });
  // Fetches the first element before the response begins, so that an unavailable database is still a 503.
  await once(body, 'readable');
  response.setHeader('Content-Type', JSON_TYPE);
  return streamed(response, body);
}

async function* jsonPieces({ data, pagination }: JsonList): AsyncGenerator<string> {
  const head = '{"data":[';
  let separator = head;
  for await (const element of data) {
    yield separator + maskJson(element);
    separator = ',';
  }
  yield `${separator === head ? head : ''}],"pagination":${JSON.stringify(pagination)}}`;
}
