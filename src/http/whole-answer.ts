import type { ServerResponse } from 'node:http';

/** A response that knows how much of its body was written before its end. */
export interface CountedResponse extends ServerResponse {
  /** Bytes; of an answer that is written and ended in one nothing is counted. */
  readonly bodyBytes?: number;
}

/**
 * Whether the caller was sent all of an answer; asked when the response closes. Where `Content-Length` says how much
 * there is, a caller may go with the last byte of it, before we have ended the answer.
 */
export function isWhole(response: CountedResponse): boolean {
  if (response.writableEnded) return response.writableFinished;
  // A socket that closes with anything unsent, or is reset, never finishes.
  const isSent = response.headersSent && response.socket?.writableFinished === true;
  return isSent && (response.bodyBytes ?? 0) >= Number(response.getHeader('Content-Length'));
}
