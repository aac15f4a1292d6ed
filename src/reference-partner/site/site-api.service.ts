import { PassThrough, pipeline, Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { principalOf } from '../../auth/served-api.js';
import type { AuthenticatedRequest, Principal } from '../../auth/principal.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import type { InjectedScenario, ScenarioName } from '../../contracts/sandbox/scenarios.js';
import type { GetSitesResponse } from '../../contracts/site/site.dto.js';
import { apiError } from '../../errors/app-error.js';
import { type Answer, JSON_TYPE } from '../../http/answer.js';
import { matchesEtag } from '../../http/conditional-requests.js';
import type { FaultedRequest } from '../../http/recorded-request.js';
import { changesSites, changeSites } from '../sandbox/site-answers.rules.js';
import { ReferenceSiteData, type StoredAnswer } from './site-data.service.js';

/** The caller of a request, its conditions, and the response that receives the headers. */
export interface SiteCaller {
  readonly principal: Principal;
  readonly acceptsGzip: boolean;
  readonly ifNoneMatch: string | undefined;
  readonly response: Response;
  readonly scenario: InjectedScenario | undefined;
}

export function siteCallerOf(call: AuthenticatedRequest & FaultedRequest): SiteCaller {
  if (call.res === undefined) throw new Error('the request has no response');
  return {
    principal: principalOf(call),
    acceptsGzip: call.acceptsEncodings(['gzip', 'identity']) === 'gzip',
    ifNoneMatch: call.headers['if-none-match'],
    response: call.res,
    scenario: call.scenario,
  };
}

/** The Site API of the reference partner. Sends the response that was prepared when the data was stored. */
@Injectable()
export class ReferenceSiteApi {
  constructor(private readonly data: ReferenceSiteData) {}

  /**
   * Returns the body as a stream, or 304 without a body if the caller has it. Throws `notFound` if the hauler is unknown
   * or the key is limited to another one.
   */
  async getSites(haulerId: string, caller: SiteCaller): Promise<Answer<Readable | undefined>> {
    const limit = caller.principal.haulerId;
    const stored = limit !== null && limit !== haulerId ? undefined : await this.data.find(haulerId);
    if (stored === undefined) throw apiError(SITE_API, 'notFound', `hauler ${haulerId} has no data`);
    if (changesSites(caller.scenario?.name)) return this.changed(stored, caller.scenario.name);
    // The tag is weak, because the compressed and the uncompressed body share it.
    const etag = `W/"${stored.digest}"`;
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Accept-Encoding' };
    if (matchesEtag(caller.ifNoneMatch, etag)) return { status: 304, headers, body: undefined };
    return {
      status: 200,
      headers: {
        ...headers,
        'Content-Type': JSON_TYPE,
        'Content-Length': String(caller.acceptsGzip ? stored.gzipLength : stored.byteLength),
        ...(caller.acceptsGzip ? { 'Content-Encoding': 'gzip' } : {}),
      },
      body: await this.body(stored, caller.acceptsGzip),
    };
  }

  /** The response of a scenario is written for each request. */
  private async changed(stored: StoredAnswer, scenario: ScenarioName): Promise<Answer<Readable>> {
    const response = (await json(await this.body(stored, false))) as GetSitesResponse;
    const body = Buffer.from(JSON.stringify(changeSites(scenario, response)));
    const headers = { 'Content-Type': JSON_TYPE, 'Content-Length': String(body.length), 'Cache-Control': 'no-store' };
    return { status: 200, headers, body: Readable.from([body]) };
  }

  /** Reads the first piece before the response begins, so that an unavailable database is still reported as 503. */
  private async body(stored: StoredAnswer, compressed: boolean): Promise<Readable> {
    const first = await this.data.piece(stored, 0);
    const pieces = Readable.from(this.pieces(stored, first), { objectMode: false, highWaterMark: 1 });
    // An error destroys the returned stream, which ends the response early; the callback has nothing to do.
    return pipeline(pieces, compressed ? new PassThrough() : createGunzip(), () => undefined);
  }

  private async *pieces(stored: StoredAnswer, first: Buffer): AsyncGenerator<Buffer> {
    yield first;
    for (let position = 1; position < stored.chunks; position++) yield await this.data.piece(stored, position);
  }
}
