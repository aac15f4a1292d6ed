import type { Response } from 'express';

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
