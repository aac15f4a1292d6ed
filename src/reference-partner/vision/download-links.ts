import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { isUuid, withoutFinalSlashes } from '../../contracts/common/text.js';
import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import { type Recording, VIDEO_FILES_API, VISION_API } from '../../contracts/vision/vision.api.js';
import { apiError } from '../../core/errors/app-error.js';
import type { ByteRange } from '../../core/http/conditional-requests.js';
import { SCENARIO_HEADER } from '../../core/http/call.js';
import { Database } from '../../core/database/database.js';
import { requestedOrigin } from '../../core/http/url.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { FaultyFiles } from '../sandbox/faulty-files.js';
import { PartnerClock, systemNow } from '../sandbox/partner-clock.js';
import type { LinkTerms } from '../sandbox/vision-scenarios.service.js';
import { fileOf, findVideo, type VideoKind } from './stored-videos.repository.js';

/** The link is the permission: any page may embed the file, in a frame as well, and its scripts may read it in ranges. */
const EMBEDDABLE = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
  'Content-Security-Policy': "default-src 'none'; media-src 'self'",
};

type Link = Pick<Recording, 'downloadUrl' | 'expiresAt'>;

/** Download links need no API key: they are signed with HMAC-SHA256 and expire after VISION_LINK_TTL (decision 46). */
@Injectable()
export class DownloadLinks {
  private readonly key: Buffer;

  constructor(@Inject(ENV) private readonly env: ResolvedEnv) {
    this.key = Buffer.from(hkdfSync('sha256', env.SECRETS_KEY, '', 'haulbridge download links', 32));
  }

  /** The origin of the links: PUBLIC_URL, else that of the request. */
  originOf(request: Request): string {
    return this.env.PUBLIC_URL === undefined ? requestedOrigin(request) : withoutFinalSlashes(this.env.PUBLIC_URL);
  }

  sign(origin: string, kind: VideoKind, id: string, { now, ttlMs, scenario }: LinkTerms): Link {
    const expires = Math.floor((now + (ttlMs ?? this.env.VISION_LINK_TTL)) / 1000);
    const signature = this.signature(kind, id, expires, scenario);
    const query = `expires=${expires}&signature=${signature}${scenario === undefined ? '' : `&scenario=${scenario}`}`;
    return {
      downloadUrl: `${origin}${VIDEO_FILES_API.prefix}/${kind}/${id}.mp4?${query}`,
      expiresAt: formatInstant(new Date(expires * 1000)),
    };
  }

  /**
   * Returns when the link expires, in milliseconds since the epoch. Throws `unauthorized` if the link was changed.
   * The signature is compared as text, because the same bytes have several base64url spellings, and we issue only one.
   */
  verify(kind: VideoKind, id: string, { expires, signature, scenario }: Request['query']): number {
    const seconds = typeof expires === 'string' && /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : undefined;
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const expected = Buffer.from(this.signature(kind, id, seconds ?? 0, scenario));
    if (seconds === undefined || given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw apiError(VISION_API, 'unauthorized', 'the signature of the link is not valid: list the videos again');
    }
    return seconds * 1000;
  }

  private signature(kind: VideoKind, id: string, expires: number, scenario: unknown): string {
    const suffix = typeof scenario === 'string' ? `/${scenario}` : '';
    return createHmac('sha256', this.key).update(`${kind}/${id}/${expires}${suffix}`).digest('base64url');
  }
}

/** Sends the files of the download links (decision 46). */
@Injectable()
export class VideoFiles {
  constructor(
    private readonly database: Database,
    private readonly links: DownloadLinks,
    private readonly clock: PartnerClock,
    private readonly files: FaultyFiles,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  async send(kind: VideoKind, id: string, request: Request, response: Response): Promise<void> {
    const expiresAtMs = this.links.verify(kind, id, request.query);
    const { scenario: named, signature } = request.query;
    // The signature of the link covers it.
    const scenario = typeof named === 'string' ? named : undefined;
    if (scenario !== undefined) {
      request.call.scenario = { name: scenario as ScenarioName, parameters: {} };
      response.setHeader(SCENARIO_HEADER, scenario);
    }
    const video = isUuid(id) ? await findVideo(this.database, kind, id) : undefined;
    const now = video === undefined ? systemNow() : await this.clock.now(video.customer_id);
    if (expiresAtMs <= now) throw apiError(VISION_API, 'gone', 'the link has expired: list the videos again');
    if (video === undefined) throw apiError(VISION_API, 'notFound', 'the file was deleted: list the videos again');
    const file = {
      size: video.size_bytes,
      etag: `"${video.sha256}"`,
      contentType: 'video/mp4',
      headers: EMBEDDABLE,
      open: (range: ByteRange) => this.storage.read(fileOf(kind, video), range),
    };
    await this.files.send(request, response, file, {
      signature: typeof signature === 'string' ? signature : '',
      scenario,
      expiresInMs: expiresAtMs - now,
    });
  }
}
