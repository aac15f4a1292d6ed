import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Change } from './address.js';
import type { AnswerOf, PathOf } from './contract.js';
import { type CallError, callErrorOf, getText, urlOf } from './api.js';

export interface Loaded<T> {
  /** The last response; it stays while another one is loaded. */
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface State<T> {
  readonly url: string | undefined;
  readonly text: string;
  readonly data: T | undefined;
  readonly error: CallError | undefined;
}

const RETRY_MS = 3_000;
/** Longer than any list takes: a network that lost the answer never says so. */
const LONGEST_MS = 60_000;

/** The service gave no answer, or has too much to do: it may be back soon. */
const isPassing = ({ status }: CallError): boolean => status === 0 || status === 503;

/** Fired after a change, so that all lists on the page show it. */
const DATA_CHANGED = 'datachange';
const reloadAll = (): boolean => dispatchEvent(new Event(DATA_CHANGED));

/**
 * Loads JSON of the API; nothing without a path. With `everyMs` it loads again at this interval while the page is visible.
 * A response that equals the last one changes nothing, so that a live page does not flicker.
 */
export function useLoad<const Path extends PathOf<'GET'>>(
  path: Path | undefined,
  query: Change = {},
  everyMs?: number,
): Loaded<AnswerOf<'GET', Path>> {
  type T = AnswerOf<'GET', Path>;
  const url = path === undefined ? undefined : urlOf(path, query);
  const [state, setState] = useState<State<T>>({ url: undefined, text: '', data: undefined, error: undefined });
  const [loads, setLoads] = useState(0);
  const reload = useCallback(() => setLoads((count) => count + 1), []);
  const running = useRef<AbortController>(undefined);
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
    running.current = abort;
    const load = async () => {
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(LONGEST_MS)]);
      const next = await answerOf<T>(url, latest.current, signal);
      if (abort.signal.aborted) return;
      running.current = undefined;
      if (next !== latest.current) setState(next);
    };
    load().catch(reportError);
    return () => abort.abort();
  }, [url, loads]);
  useEffect(() => {
    const interval = state.error !== undefined && isPassing(state.error) ? RETRY_MS : everyMs;
    if (interval === undefined || url === undefined) return undefined;
    // An answer that takes longer than the interval is waited for: to ask again would abort it, for ever.
    const again = () => document.visibilityState === 'visible' && running.current === undefined && reload();
    const timer = setInterval(again, interval);
    return () => clearInterval(timer);
  }, [everyMs, state.error, url]);
  return { data: state.data, error: state.error, isLoading: url !== undefined && state.url !== url, reload };
}

async function answerOf<T>(url: string, last: State<T>, signal: AbortSignal): Promise<State<T>> {
  try {
    const text = await getText(url, signal);
    if (last.url === url && last.text === text && last.error === undefined) return last;
    return { url, text, data: JSON.parse(text) as T, error: undefined };
  } catch (error) {
    const failure = callErrorOf(error);
    // The page keeps what it shows.
    const keeps = last.url === url || isPassing(failure);
    return { url, text: '', data: keeps ? last.data : undefined, error: failure };
  }
}

export interface Action<Input> {
  readonly isRunning: boolean;
  readonly error: CallError | undefined;
  readonly run: (input: Input) => Promise<void>;
}

/** A call that a button makes. Its error stays until the next try; all lists are loaded again after it. */
export function useAction<Input>(work: (input: Input) => Promise<unknown>): Action<Input> {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async (input: Input) => {
    setRunning(true);
    setError(undefined);
    try {
      await work(input);
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
