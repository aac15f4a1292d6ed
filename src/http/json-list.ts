import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import type { Pagination } from '../contracts/common/pagination.dto.js';
import { JSON_TYPE, streamed } from './answer.js';

/** One page of a list whose elements become JSON texts while it goes out, each read when the one before has gone. */
export interface JsonList {
  readonly data: AsyncIterable<string>;
  readonly pagination: Required<Pagination>;
}

/** `{ data, pagination }`, element by element: a slow reader holds it back, and no page is in memory as a whole. */
export async function streamedList(response: Response, list: JsonList): Promise<StreamableFile> {
  const body = Readable.from(piecesOf(list), { objectMode: false, highWaterMark: 1 });
  // The first element is read before the answer begins, so that a database that is away can still be told as such.
  await once(body, 'readable');
  response.setHeader('Content-Type', JSON_TYPE);
  return streamed(response, body);
}

async function* piecesOf({ data, pagination }: JsonList): AsyncGenerator<string> {
  const open = '{"data":[';
  let before = open;
  for await (const element of data) {
    yield before + element;
    before = ',';
  }
  yield `${before === open ? open : ''}],"pagination":${JSON.stringify(pagination)}}`;
}
