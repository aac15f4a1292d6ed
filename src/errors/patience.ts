import { unavailable } from './app-error.js';

/** What `work` brings; `unavailable`, and why, where that takes longer than so many milliseconds. */
export function withinPatience<T>(work: Promise<T>, milliseconds: number, why: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unavailable(why)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
