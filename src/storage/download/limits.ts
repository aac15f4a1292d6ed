export interface DownloadLimits {
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Name resolution, connection and TLS handshake, in milliseconds. */
  readonly connectMs: number;
  /** Without the head of an answer, or without one more byte of its body, in milliseconds. */
  readonly idleMs: number;
  /** A host that sends more slowly than this over `slowMs` only holds a place: bytes a second. */
  readonly slowestRate: number;
  readonly slowMs: number;
  readonly maxRedirects: number;
}

/** Decision 47 where it says so; each may be given otherwise. */
export const DOWNLOAD_LIMITS: DownloadLimits = {
  maxBytes: 10 * 1024 ** 3,
  connectMs: 10_000,
  idleMs: 30_000,
  slowestRate: 1024,
  slowMs: 60_000,
  maxRedirects: 3,
};
