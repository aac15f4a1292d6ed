import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { isUuid } from '../../contracts/common/text.js';
import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { apiError } from '../../errors/app-error.js';
import type { FaultedRequest } from '../../http/faulted-request.js';
import type { ByteRange } from '../../http/conditional-requests.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { FaultyFiles } from '../sandbox/faulty-files.js';
import { PartnerClock, systemNow } from '../sandbox/partner-clock.js';
import { type FilmKind, filmName, findFilm } from './film-tables.js';
import { DownloadLinks } from './links.js';

/** The files behind the download links (decision 46). */
@Injectable()
export class HostedFiles {
  constructor(
    private readonly dataSource: DataSource,
    private readonly links: DownloadLinks,
    private readonly clock: PartnerClock,
    private readonly files: FaultyFiles,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  async send(kind: FilmKind, id: string, request: FaultedRequest, response: Response): Promise<void> {
    const expiresAtMs = this.links.verify(kind, id, request.query);
    const film = isUuid(id) ? await findFilm(this.dataSource, kind, 'id', id) : undefined;
    const now = film === undefined ? systemNow() : await this.clock.now(film.customerId);
    this.links.assertValid(expiresAtMs, now);
    if (film === undefined) throw apiError(VISION_API, 'notFound', 'the file is no longer there');
    const { scenario, signature } = request.query;
    if (typeof scenario === 'string') {
      // The signature covers it.
      request.scenario = { name: scenario as ScenarioName, parameters: {} };
      response.setHeader('Sandbox-Scenario', scenario);
    }
    const link = {
      signature: typeof signature === 'string' ? signature : '',
      scenario: typeof scenario === 'string' ? scenario : undefined,
      expiresInMs: expiresAtMs - now,
    };
    const file = {
      size: film.sizeBytes,
      etag: `"${film.sha256}"`,
      contentType: 'video/mp4',
      open: (range: ByteRange) => this.storage.read(filmName(kind, id), range),
    };
    await this.files.send(request, response, file, link);
  }
}
