import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Semaphore } from '../database/semaphore.js';
import { streamed } from './answer.js';
import type { ApiRoute } from '../../contracts/common/api-contract.js';
import { BOM_PARAMETER, CSV_TYPE, csvFormOf, NDJSON_TYPE } from '../../contracts/common/csv.js';
import { keepingLimit } from '../database/hauler-limit.js';
import { AppError, invalid } from '../errors/app-error.js';
import { maskJson } from '../observability/redaction.js';
import { csvTexts } from './csv.js';
import { acceptedTypes } from './headers.js';
import { servedBy } from './call.js';

/** Elements of one read. */
const READ_SIZE = 1_000;

/** A text is sent when it has this length. */
const TEXT_LENGTH = 65_536;

/** Reads of streamed lists that run at once: they must not take the connections of other requests. */
const MAX_READS = 2;
const reads = new Semaphore(MAX_READS);

interface PageOf<Element> {
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
async function* elementsOf<Query extends object, Element>(
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
async function streamedTexts(
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

const JSON_TYPE = 'application/json';

/** A form of a list that is streamed to its end. */
interface ListForm {
  readonly type: string;
  readonly contentType: string;
  readonly extension: string;
  isOf(route: ApiRoute): boolean;
  texts(request: Request, elements: AsyncIterable<unknown>): AsyncIterable<string>;
}

const FORMS: readonly ListForm[] = [
  {
    type: CSV_TYPE,
    contentType: `${CSV_TYPE}; charset=utf-8; header=present`,
    extension: 'csv',
    isOf: ({ csv }) => csv !== undefined,
    texts(request, elements) {
      const { route } = servedBy(request.call);
      const form = csvFormOf(route);
      if (form === undefined) throw new Error(`${route.operation} has no CSV`);
      return csvTexts(form, elements, hasBom(request) ? '\ufeff' : '');
    },
  },
  {
    type: NDJSON_TYPE,
    contentType: NDJSON_TYPE,
    extension: 'ndjson',
    isOf: ({ ndjson }) => ndjson === true,
    texts: (_request, elements) => ndjsonTexts(elements),
  },
];

type ListOf<Query, Page> = (query: Query) => Promise<Page>;

/** A list as its client accepts it: a page as JSON, or every element in a streamed form. JSON wins where both are accepted. */
export async function listAnswer<Query extends object, Found extends PageOf<unknown>>(
  request: Request,
  query: Query,
  list: ListOf<Query, Found>,
): Promise<Found | StreamableFile> {
  return acceptsStream(request) ? streamedAnswer(request, query, list) : list(query);
}

/** Whether the client wants the whole list, in a form that the route has. */
export const acceptsStream = (request: Request): boolean => formOf(request) !== undefined;

/** A page of JSON would look like the whole list to a client that accepts CSV or NDJSON alone. */
export function refuseOtherForms(request: Request): void {
  if (acceptedOf(request, FORMS) === false || acceptedOf(request, formsOf(request), JSON_TYPE) !== false) return;
  throw new AppError('notAcceptable', `this list has no such form: accept ${JSON_TYPE}, and read all pages`);
}

function formOf(request: Request): ListForm | undefined {
  const forms = formsOf(request);
  const accepted = acceptedOf(request, forms, JSON_TYPE);
  return forms.find(({ type }) => type === accepted);
}

const formsOf = (request: Request): ListForm[] => FORMS.filter((form) => form.isOf(servedBy(request.call).route));

function acceptedOf(request: Request, forms: readonly ListForm[], ...others: string[]): string | false {
  if (request.headers.accept !== undefined) request.headers.accept = acceptedTypes(request.headers.accept);
  return request.accepts([...others, ...forms.map(({ type }) => type)]);
}

/** The names of the filters that a client sent. */
export const filterNames = (request: Request): string[] =>
  Object.keys(request.query).filter((name) => name !== BOM_PARAMETER || formOf(request)?.type !== CSV_TYPE);

/** Every element of the list, in the form that the client accepts. */
export async function streamedAnswer<Query extends object>(
  request: Request,
  query: Query,
  list: ListOf<Query, PageOf<unknown>>,
): Promise<StreamableFile> {
  const form = formOf(request);
  const { res: response } = request;
  if (form === undefined || response === undefined) throw new Error('the client accepts no streamed form');
  // Later pages are read outside the call.
  const texts = form.texts(request, elementsOf(query, keepingLimit(list)));
  const answer = await streamedTexts(response, form.contentType, texts);
  response.setHeader('Content-Disposition', `attachment; filename="${fileName(request, form)}"`);
  return answer;
}

function hasBom({ query }: Request): boolean {
  const { [BOM_PARAMETER]: bom = 'false' } = query;
  if (bom === 'true' || bom === 'false') return bom === 'true';
  throw invalid([
    {
      path: BOM_PARAMETER,
      rule: 'isBoolean',
      message: `${BOM_PARAMETER} must be true or false`,
    },
  ]);
}

/** `sync-runs-<id>-changes-2026-11-26.csv` */
function fileName(request: Request, { extension }: ListForm): string {
  const { api } = servedBy(request.call);
  const name = request.path
    .slice(api.prefix.length)
    .replace(/[^\w-]+/g, '-')
    .replace(/^-/, '');
  return `${name}-${new Date().toISOString().slice(0, 10)}.${extension}`;
}

/** One JSON text a line. An element is an object or its JSON, which has no line break. */
async function* ndjsonTexts(elements: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const element of elements) {
    yield `${maskJson(typeof element === 'string' ? element : JSON.stringify(element))}\n`;
  }
}
