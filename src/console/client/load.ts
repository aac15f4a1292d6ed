import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { List } from '../../contracts/admin/list.dto.js';
import type { Change } from './links.js';
import type { AnswerOf, PathOf, RowOf } from './contract.js';
import { type CallError, callErrorOf, getText, LONGEST_MS, urlOf } from './api.js';

export interface Loaded<T> {
  /** The last response; it stays while the same path is loaded with other filters. Never that of another path. */
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  /** `data` belongs to other filters: the answer for these is not there yet, or failed. */
  readonly isStale: boolean;
  /** When the data was last read, in milliseconds since the epoch; it changes without a new drawing where the answer is the same. */
  readonly readAt: { readonly current: number | undefined };
  readonly reload: () => void;
}

interface State<T> {
  /** Of the data. */
  readonly url: string | undefined;
  readonly text: string;
  readonly data: T | undefined;
  readonly error: CallError | undefined;
}

type Read = (url: string, signal: AbortSignal) => Promise<string>;

const RETRY_MS = 3_000;

/** The service gave no answer, or has too much to do: it may be back soon. */
const isPassing = ({ status }: CallError): boolean => status === 0 || status === 503;

/** Fired after a change, so that all lists on the page show it. */
const DATA_CHANGED = 'datachange';
const reloadAll = (): boolean => dispatchEvent(new Event(DATA_CHANGED));

/**
 * Loads JSON of the API; nothing without a path. With `everyMs` it loads again at this interval while the page is visible.
 * A response that equals the last one changes nothing, so that a live page does not flicker.
 */
export const useLoad = <const Path extends PathOf<'GET'>>(
  path: Path | undefined,
  query: Change = {},
  everyMs?: number,
): Loaded<AnswerOf<'GET', Path>> => useAnswer(path && urlOf(path, query), getText, everyMs);

/** A page of a list. Exchanges have no numbers of pages. */
type ListAnswer<Row> = List<Row> | { readonly data: readonly Row[]; readonly next: string | null };

/** One page of a list. */
export const useList = <const Path extends PathOf<'GET'>>(
  path: Path,
  query: Change,
  everyMs?: number,
): Loaded<ListAnswer<RowOf<Path>>> => useAnswer(urlOf(path, query), getText, everyMs);

/** Loads all rows of a list, however many pages it has: those that a person chooses from, and their names. */
export const useAll = <const Path extends PathOf<'GET'>>(
  path: Path | undefined,
  query: Change = {},
  everyMs?: number,
): Loaded<readonly RowOf<Path>[]> => useAnswer(path && urlOf(path, { ...query, pageSize: 100 }), getRows, everyMs);

/** The rows of a list that is being read: parts of one page that need the same list share its calls. */
const running = new Map<string, Promise<string>>();
// What was asked for before a change may not have it.
addEventListener(DATA_CHANGED, () => running.clear());

function getRows(url: string): Promise<string> {
  const rows = running.get(url) ?? readPages(url).finally(() => running.delete(url));
  running.set(url, rows);
  return rows;
}

async function readPages(url: string): Promise<string> {
  const rows: unknown[] = [];
  let next: string | null = '';
  while (next !== null) {
    const place: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = JSON.parse(await getText(url + place, AbortSignal.timeout(LONGEST_MS))) as List<unknown>;
    rows.push(...page.data);
    next = page.pagination.next;
  }
  return JSON.stringify(rows);
}

function useAnswer<T>(url: string | undefined, read: Read, everyMs: number | undefined): Loaded<T> {
  const [state, setState] = useState<State<T>>({ url: undefined, text: '', data: undefined, error: undefined });
  const [loads, setLoads] = useState(0);
  const reload = useCallback(() => setLoads((count) => count + 1), []);
  const waiting = useRef<AbortController>(undefined);
  const readAt = useRef<number>(undefined);
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    addEventListener(DATA_CHANGED, reload);
    return () => removeEventListener(DATA_CHANGED, reload);
  }, []);
  // Not `useEffect`, which waits for the next frame before it sends the request.
  useLayoutEffect(() => {
    if (url === undefined) return undefined;
    const abort = new AbortController();
    waiting.current = abort;
    const load = async () => {
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(LONGEST_MS)]);
      const next = await answerOf(url, read, latest.current, signal);
      if (abort.signal.aborted) return;
      waiting.current = undefined;
      if (next.error === undefined) readAt.current = Date.now();
      if (next !== latest.current) setState(next);
    };
    load().catch(reportError);
    return () => abort.abort();
  }, [url, loads]);
  useEffect(() => {
    const interval = state.error !== undefined && isPassing(state.error) ? RETRY_MS : everyMs;
    if (interval === undefined || url === undefined) return undefined;
    // An answer that takes longer than the interval is waited for: to ask again would abort it, for ever.
    const again = () => document.visibilityState === 'visible' && waiting.current === undefined && reload();
    const timer = setInterval(again, interval);
    // Who comes back to a page sees what is, not what was.
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [everyMs, state.error, url]);
  const isShown = url !== undefined && pathOf(state.url) === pathOf(url);
  return {
    data: isShown ? state.data : undefined,
    error: isShown ? state.error : undefined,
    isStale: isShown && state.data !== undefined && state.url !== url,
    readAt,
    reload,
  };
}

const pathOf = (url: string | undefined): string | undefined => url?.split('?')[0];

async function answerOf<T>(url: string, read: Read, last: State<T>, signal: AbortSignal): Promise<State<T>> {
  try {
    const text = await read(url, signal);
    if (last.url === url && last.text === text && last.error === undefined) return last;
    return { url, text, data: JSON.parse(text) as T, error: undefined };
  } catch (error) {
    const failure = callErrorOf(error);
    // The page keeps what it shows, marked as that of the former filters.
    const keeps = last.url === url || (isPassing(failure) && pathOf(last.url) === pathOf(url));
    return { ...(keeps ? last : { url, data: undefined }), text: '', error: failure };
  }
}

export interface Action<Input> {
  readonly isRunning: boolean;
  readonly error: CallError | undefined;
  readonly run: (input: Input) => Promise<void>;
}

/** To a screen reader: what came of a press is seen elsewhere on the page. An error is an alert of its own. */
const say = (text: string) => document.getElementById('said')?.replaceChildren(text);

/** A call that a button makes. Its error stays until the next try; all lists are loaded again after it. */
export function useAction<Input>(work: (input: Input) => Promise<unknown>): Action<Input> {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async (input: Input) => {
    setRunning(true);
    setError(undefined);
    say('');
    try {
      await work(input);
      say('Done.');
    } catch (failure) {
      setError(callErrorOf(failure));
    }
    setRunning(false);
    reloadAll();
  };
  return { isRunning, error, run };
}

/** The current time, renewed at an interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
