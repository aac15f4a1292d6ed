/** How long a client may take, each in milliseconds. A slow one is cut off: what it holds is missing to the others. */
export interface ServerLimits {
  /** From the connection, or the last answer's end, until the headers are complete. */
  readonly headers: number;
  /** Until a JSON body is complete. */
  readonly jsonBody: number;
  /** Between two pieces of an upload: the whole of it may take hours. */
  readonly uploadPause: number;
  /** For what is left of a body that nobody wants, after the answer. */
  readonly unreadBody: number;
  /** Without any progress in either direction, such as a reader that has stopped reading. */
  readonly silence: number;
  /** Between two requests: longer than common balancers keep an idle connection. */
  readonly keepAlive: number;
  /** How often connections are held to `headers`; Node's own default is 30 s, three times what it would enforce. */
  readonly check: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headers: 10_000,
  jsonBody: 30_000,
  uploadPause: 30_000,
  unreadBody: 5_000,
  silence: 120_000,
  keepAlive: 65_000,
  check: 2_000,
};
