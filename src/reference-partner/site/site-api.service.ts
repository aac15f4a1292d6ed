import { pipeline, Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/caller.js';
import { type GetSitesResponse, SITE_API } from '../../contracts/site/site.api.js';
import { apiError } from '../../core/errors/app-error.js';
import { type Answer, JSON_TYPE } from '../../core/http/answer.js';
import { matchesEtag } from '../../core/http/conditional-requests.js';
import { changeSites, changesSites } from '../sandbox/site-answers.rules.js';
import { ReferenceSiteData } from './site-data.service.js';

/** The Site API of the reference partner. Sends the response that was prepared when the data was stored. */
@Injectable()
export class ReferenceSiteApi {
  constructor(private readonly data: ReferenceSiteData) {}

  /**
   * Returns the body as a stream, or 304 without a body if the caller has it. Throws `notFound` if the hauler is unknown
   * or the key is limited to another one.
   */
  async getSites(haulerId: string, request: Request): Promise<Answer<Readable | undefined>> {
    const { haulerId: limit } = principalOf(request.call);
    const stored = limit !== null && limit !== haulerId ? undefined : await this.data.find(haulerId);
    if (stored === undefined) throw apiError(SITE_API, 'notFound', `hauler ${haulerId} has no data`);
    const scenario = request.call.scenario?.name;
    if (changesSites(scenario)) {
      const response = (await json(unzipped(stored.body))) as GetSitesResponse;
      const body = Buffer.from(JSON.stringify(changeSites(scenario, response)));
      return answer(Readable.from([body]), body.length);
    }
    // The tag is weak, because the compressed and the uncompressed body share it.
    const etag = `W/"${stored.digest}"`;
    const headers = { ETag: etag, Vary: 'Accept-Encoding' };
    if (matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers, body: undefined };
    return request.acceptsEncodings(['gzip', 'identity']) === 'gzip'
      ? answer(Readable.from([stored.body]), stored.body.length, { ...headers, 'Content-Encoding': 'gzip' })
      : answer(unzipped(stored.body), stored.byteLength, headers);
  }
}

const answer = (body: Readable, length: number, headers: Readonly<Record<string, string>> = {}): Answer<Readable> => ({
  status: 200,
  headers: { ...headers, 'Content-Type': JSON_TYPE, 'Content-Length': String(length) },
  body,
});

/** An error destroys the returned stream, which ends the response early; the callback has nothing to do. */
const unzipped = (body: Buffer): Readable => pipeline(Readable.from([body]), createGunzip(), () => undefined);
