import type { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A finished answer with a status and headers of its own; a replay sends the very same again (decision 16). */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Puts the answer's status and headers on the response and hands its body to Nest. */
export function send<Body>(response: Response, answer: Answer<Body>): Body {
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  return answer.body;
}

/** A body that is JSON text already. */
export function jsonText(response: Response, text: string): string {
  response.setHeader('Content-Type', JSON_TYPE);
  return text;
}

/** A body that goes out piece by piece. Where it fails the answer breaks off: Nest would tell the caller that the request was bad. */
export function streamed(response: Response, body: Readable): StreamableFile {
  const file = new StreamableFile(body);
  return file.setErrorHandler((error) => {
    file.errorLogger(error);
    response.destroy();
  });
}
