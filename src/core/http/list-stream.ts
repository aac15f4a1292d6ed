import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Semaphore } from '../database/semaphore.js';
import { streamed } from './answer.js';

/** Elements of one read. */
const READ_SIZE = 1_000;

/** A text is sent when it has this length. */
const TEXT_LENGTH = 65_536;

/** Reads of streamed lists that run at once: they must not take the connections of other requests. */
const MAX_READS = 2;
const reads = new Semaphore(MAX_READS);

export interface PageOf<Element> {
  readonly data: Iterable<Element> | AsyncIterable<Element>;
  readonly pagination?: { readonly next: string | null };
  readonly next?: string | null;
}

/** What a query has to select a page. */
interface Paged {
  readonly page?: number;
  readonly pageSize?: number;
  readonly cursor?: string;
}

/**
 * Every element of a list from `cursor` on, page by page, so that memory does not grow with the list. Each page is a
 * statement of its own: a slow reader holds neither a connection nor a snapshot, and nothing more is read for one that left.
 */
export async function* elementsOf<Query extends object, Element>(
  query: Query,
  list: (query: Query) => Promise<PageOf<Element>>,
): AsyncGenerator<Element> {
  let { cursor } = query as Paged;
  for (;;) {
    const { data, pagination, next } = await read(() => list({ ...query, ...pageAt(cursor) }));
    yield* data;
    cursor = pagination?.next ?? next ?? undefined;
    if (cursor === undefined) return;
  }
}

const pageAt = (cursor: string | undefined): Paged => ({
  pageSize: READ_SIZE,
  ...({ page: undefined, cursor } as Paged),
});

async function read<T>(work: () => Promise<T>): Promise<T> {
  await reads.acquire(new AbortController().signal);
  try {
    return await work();
  } finally {
    reads.release();
  }
}

/**
 * Sends texts as one body, as fast as the client receives them. The first is made before the response begins: a refused
 * query is still a 400. After a later error the connection breaks, so that no client takes a part for the whole.
 */
export async function streamedTexts(
  response: Response,
  contentType: string,
  texts: AsyncIterable<string>,
): Promise<StreamableFile> {
  const body = Readable.from(gathered(texts), { objectMode: false, highWaterMark: 1 });
  await once(body, 'readable');
  response.setHeader('Content-Type', contentType);
  return streamed(response, body);
}

/** Joins short texts: each text that is sent costs time. */
async function* gathered(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '';
  for await (const each of texts) {
    text += each;
    if (text.length < TEXT_LENGTH) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
