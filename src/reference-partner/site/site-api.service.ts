import { PassThrough, pipeline, Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { principalOf } from '../../auth/caller.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import type { GetSitesResponse } from '../../contracts/site/site.dto.js';
import { apiError } from '../../errors/app-error.js';
import { type Answer, JSON_TYPE } from '../../http/answer.js';
import { matchesEtag } from '../../http/conditional-requests.js';
import type { FaultedRequest } from '../../http/recorded-request.js';
import { changesSites, changeSites } from '../sandbox/site-answers.rules.js';
import type { StoredAnswer } from './site-data.repository.js';
import { ReferenceSiteData } from './site-data.service.js';

/** The Site API of the reference partner. Sends the response that was prepared when the data was stored. */
@Injectable()
export class ReferenceSiteApi {
  constructor(private readonly data: ReferenceSiteData) {}

  /**
   * Returns the body as a stream, or 304 without a body if the caller has it. Throws `notFound` if the hauler is unknown
   * or the key is limited to another one.
   */
  async getSites(haulerId: string, call: AuthenticatedRequest & FaultedRequest): Promise<Answer<Readable | undefined>> {
    const { haulerId: limit } = principalOf(call);
    const stored = limit !== null && limit !== haulerId ? undefined : await this.data.find(haulerId);
    if (stored === undefined) throw apiError(SITE_API, 'notFound', `hauler ${haulerId} has no data`);
    const scenario = call.scenario?.name;
    if (changesSites(scenario)) return this.changed(stored, scenario);
    // The tag is weak, because the compressed and the uncompressed body share it.
    const etag = `W/"${stored.digest}"`;
    const headers = { ETag: etag, Vary: 'Accept-Encoding' };
    if (matchesEtag(call.headers['if-none-match'], etag)) return { status: 304, headers, body: undefined };
    const isCompressed = call.acceptsEncodings(['gzip', 'identity']) === 'gzip';
    return {
      status: 200,
      headers: {
        ...headers,
        'Content-Type': JSON_TYPE,
        'Content-Length': String(isCompressed ? stored.gzipLength : stored.byteLength),
        ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
      },
      body: await this.body(stored, isCompressed),
    };
  }

  /** The response of a scenario is written for each request. */
  private async changed(stored: StoredAnswer, scenario: ScenarioName): Promise<Answer<Readable>> {
    const response = (await json(await this.body(stored, false))) as GetSitesResponse;
    const body = Buffer.from(JSON.stringify(changeSites(scenario, response)));
    const headers = { 'Content-Type': JSON_TYPE, 'Content-Length': String(body.length) };
    return { status: 200, headers, body: Readable.from([body]) };
  }

  /** Reads the first piece before the response begins, so that an unavailable database is still reported as 503. */
  private async body(stored: StoredAnswer, isCompressed: boolean): Promise<Readable> {
    const first = await this.data.piece(stored, 0);
    const pieces = Readable.from(this.pieces(stored, first), { objectMode: false, highWaterMark: 1 });
    // An error destroys the returned stream, which ends the response early; the callback has nothing to do.
    return pipeline(pieces, isCompressed ? new PassThrough() : createGunzip(), () => undefined);
  }

  private async *pieces(stored: StoredAnswer, first: Buffer): AsyncGenerator<Buffer> {
    yield first;
    for (let position = 1; position < stored.chunks; position++) yield await this.data.piece(stored, position);
  }
}
