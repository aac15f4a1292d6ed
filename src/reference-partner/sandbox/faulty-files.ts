import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { type FileToSend, sendFile } from '../../core/http/send-file.js';

/** The link of a download. */
export interface RequestedLink {
  readonly signature: string;
  readonly scenario: string | undefined;
  readonly expiresInMs: number;
}

const MAX_LINKS = 10_000;

/** Sends the files of links that a scenario of the sandbox has signed. */
@Injectable()
export class FaultyFiles {
  /** The links whose first download this instance has interrupted. */
  private readonly interrupted = new LRUCache<string, true>({ max: MAX_LINKS });

  async send(request: Request, response: Response, file: FileToSend, link: RequestedLink): Promise<void> {
    switch (link.scenario) {
      case 'truncated-file':
        return sendFile(request, response, { ...file, size: Math.floor(file.size / 2) });
      case 'link-expires-during-download':
        return sendHalf(response, file, link.expiresInMs);
      case 'etag-changes':
        if (this.interrupts(request, link)) return sendHalf(response, file, 0);
        return sendFile(request, response, { ...file, etag: `"${randomUUID()}"` });
      case 'no-range':
        if (this.interrupts(request, link)) return sendHalf(response, file, 0);
        return sendWhole(response, file);
      default:
        return sendFile(request, response, file);
    }
  }

  /** Once for each link: the client then has a download to resume. */
  private interrupts({ method, headers }: Request, { signature }: RequestedLink): boolean {
    if (method !== 'GET' || headers.range !== undefined || this.interrupted.has(signature)) return false;
    this.interrupted.set(signature, true);
    return true;
  }
}

const headersOf = ({ size, etag, contentType, headers }: FileToSend) => ({
  ...headers,
  ETag: etag,
  'Content-Type': contentType,
  'Content-Length': String(size),
});

async function sendWhole(response: Response, file: FileToSend): Promise<void> {
  const bytes = await file.open({ start: 0, end: file.size - 1 });
  response.status(200).set(headersOf(file));
  await pipeline(bytes, response).catch(() => response.destroy());
}

/** Sends half of the file, and closes the connection after `waitMs`. */
async function sendHalf(response: Response, file: FileToSend, waitMs: number): Promise<void> {
  const bytes = await file.open({ start: 0, end: Math.floor(file.size / 2) - 1 });
  response.status(200).set({ ...headersOf(file), 'Accept-Ranges': 'bytes' });
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await pipeline(bytes, response, { end: false }).catch(() => undefined);
  // The bytes need a moment to be sent.
  await delay(Math.max(waitMs, 50), undefined, { signal: closed.signal }).catch(() => undefined);
  response.destroy();
}
