import type { ErrorResponse } from '../../contracts/common/error-body.dto.js';
import { type Change, queryText } from './links.js';
import type { AnswerOf, BodyOf, Method, PathOf } from './contract.js';

/** What the service found wrong in one field of a request. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** A call that failed, with a sentence for the user. `status` 0: the service gave no answer. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly requestId?: string,
    readonly violations: readonly Violation[] = [],
  ) {
    super(message);
    this.name = 'CallError';
  }
}

/** Any failure as the error of a call. */
export const callErrorOf = (error: unknown): CallError =>
  error instanceof CallError ? error : new CallError(0, String(error));

/** Called when the service answers 401: the session has ended. */
let sessionEnded = () => {};
let prefix = '/admin/v1';
let canWrite = true;

interface Settings {
  readonly prefix?: string;
  readonly canWrite?: boolean;
  readonly onSessionEnded?: () => void;
}

export function configure(settings: Settings): void {
  prefix = settings.prefix ?? prefix;
  canWrite = settings.canWrite ?? canWrite;
  sessionEnded = settings.onSessionEnded ?? sessionEnded;
}

/** The address of a call: `path` stands below the prefix of the API that the session may use. */
export function urlOf(path: string, query: Change = {}): string {
  const text = queryText(query);
  return `${path.startsWith('/console/') ? path : prefix + path}${text === '' ? '' : `?${text}`}`;
}

/** A reading has an end: fetch has no timeout of its own, and what is not known must not look well. */
export const LONGEST_MS = 20_000;

/** The text of a JSON response. */
export async function getText(url: string, signal = AbortSignal.timeout(LONGEST_MS)): Promise<string> {
  return (await request(url, { signal })).text();
}

/** The whole list as a file of the browser. An answer that breaks off in the middle is an error. */
export async function getCsv(path: string, query: Change): Promise<{ readonly name: string; readonly content: Blob }> {
  const response = await request(urlOf(path, { ...query, bom: 'true' }), { headers: { Accept: 'text/csv' } });
  const name = /filename="([^"]*)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  try {
    return { name: name ?? 'list.csv', content: await response.blob() };
  } catch {
    throw new CallError(0, 'The list broke off before its end. Nothing was saved; try again.');
  }
}

export async function get<const Path extends PathOf<'GET'>>(
  path: Path,
  query?: Change,
): Promise<AnswerOf<'GET', Path>> {
  return JSON.parse(await getText(urlOf(path, query))) as AnswerOf<'GET', Path>;
}

/** A call that may change something. The header shows the service that a page of its own sent the request. */
export async function send<const M extends Method, const Path extends PathOf<M>>(
  method: M,
  path: Path,
  body?: BodyOf<M, Path>,
): Promise<AnswerOf<M, Path>> {
  const headers = { 'X-Console': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const text = await (await request(urlOf(path), init)).text();
  return (text === '' ? undefined : JSON.parse(text)) as AnswerOf<M, Path>;
}

/** Sends a file, which may take minutes. */
export async function upload<const Path extends PathOf<'POST'>>(
  path: Path,
  query: Change,
  file: Blob,
  contentType: string,
): Promise<AnswerOf<'POST', Path>> {
  const headers = { 'X-Console': '1', 'Content-Type': contentType };
  const response = await request(urlOf(path, query), { method: 'POST', headers, body: file });
  return (await response.json()) as AnswerOf<'POST', Path>;
}

async function request(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted === true && !isTimeout(init.signal.reason)) throw error;
    throw new CallError(0, 'The service does not answer. Check that it runs and that your network works.');
  }
  if (response.ok) return response;
  const failure = await failureOf(response);
  // A session that may only read is refused a change with 401 too, and goes on.
  const isRefusedChange = init.method !== undefined && !canWrite;
  if (response.status === 401 && !url.endsWith('/session') && !isRefusedChange) sessionEnded();
  throw failure;
}

const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError';

async function failureOf(response: Response): Promise<CallError> {
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const body = (await response.json().catch(() => ({}))) as Partial<ErrorResponse>;
  const message = body.error?.message ?? `The service answered ${response.status}.`;
  const violations = (body.error?.details?.['violations'] ?? []) as readonly Violation[];
  return new CallError(response.status, sentence(message), requestId, violations);
}

/** A message that starts with the name of a field keeps it as it is. */
export function sentence(text: string): string {
  const start = /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() : text.charAt(0);
  return start + text.slice(1) + (text === '' || /[.!?]$/.test(text) ? '' : '.');
}
