import { PassThrough, pipeline, Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { SITE_API } from '../../contracts/site/site.api.js';
import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import type { GetSitesResponse } from '../../contracts/site/site.dto.js';
import { apiError } from '../../errors/app-error.js';
import { type Answer, JSON_TYPE } from '../../http/answer.js';
import { matchesEtag } from '../../http/conditional-requests.js';
import { changesSites, changeSites } from '../sandbox/site-answers.rules.js';
import type { SiteCaller } from './site-caller.js';
import { HostedSiteData, type StoredAnswer } from './site-data.service.js';

/** Answers a partner's side of the Site API out of what is stored ready-made. */
@Injectable()
export class HostedSiteApi {
  constructor(private readonly data: HostedSiteData) {}

  /** The body as a stream, or none where the caller has it already. Unknown, or beyond the key's limit: `notFound`. */
  async getSites(haulerId: string, caller: SiteCaller): Promise<Answer<Readable | undefined>> {
    const limit = caller.principal.haulerId;
    const stored = limit !== null && limit !== haulerId ? undefined : await this.data.find(haulerId);
    if (stored === undefined) throw apiError(SITE_API, 'notFound', `there is no data of the hauler ${haulerId}`);
    if (changesSites(caller.scenario?.name)) return this.changed(stored, caller.scenario.name);
    // Weak: compressed or not, it says the same, but not byte for byte.
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

  /** The first piece is read before the answer begins, so that a database that is away can still be told as such. */
  private async body(stored: StoredAnswer, compressed: boolean): Promise<Readable> {
    const first = await this.data.piece(stored, 0);
    const pieces = Readable.from(this.pieces(stored, first), { objectMode: false, highWaterMark: 1 });
    // The callback has nothing to do: a failure destroys the stream that is returned, which breaks the answer off.
    return pipeline(pieces, compressed ? new PassThrough() : createGunzip(), () => undefined);
  }

  private async *pieces(stored: StoredAnswer, first: Buffer): AsyncGenerator<Buffer> {
    yield first;
    for (let position = 1; position < stored.chunks; position++) yield await this.data.piece(stored, position);
  }
}
