import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { isUuid } from '../../contracts/common/text.js';
import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { apiError } from '../../errors/app-error.js';
import type { FaultedRequest } from '../../http/recorded-request.js';
import type { ByteRange } from '../../http/conditional-requests.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { FaultyFiles } from '../sandbox/faulty-files.js';
import { PartnerClock, systemNow } from '../sandbox/partner-clock.js';
import { type VideoKind, videoFileName, findVideo } from './stored-videos.repository.js';
import { DownloadLinks } from './download-links.js';

/** Sends the files of the download links (decision 46). */
@Injectable()
export class VideoFiles {
  constructor(
    private readonly dataSource: DataSource,
    private readonly links: DownloadLinks,
    private readonly clock: PartnerClock,
    private readonly files: FaultyFiles,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  async send(kind: VideoKind, id: string, request: FaultedRequest, response: Response): Promise<void> {
    const expiresAtMs = this.links.verify(kind, id, request.query);
    const { scenario, signature } = request.query;
    if (typeof scenario === 'string') {
      // The signature of the link covers the scenario.
      request.scenario = { name: scenario as ScenarioName, parameters: {} };
      response.setHeader('Sandbox-Scenario', scenario);
    }
    const video = isUuid(id) ? await findVideo(this.dataSource, kind, 'id', id) : undefined;
    const now = video === undefined ? systemNow() : await this.clock.now(video.customerId);
    this.links.assertValid(expiresAtMs, now);
    if (video === undefined) throw apiError(VISION_API, 'notFound', 'the file is no longer there');
    const link = {
      signature: typeof signature === 'string' ? signature : '',
      scenario: typeof scenario === 'string' ? scenario : undefined,
      expiresInMs: expiresAtMs - now,
    };
    const file = {
      size: video.sizeBytes,
      etag: `"${video.sha256}"`,
      contentType: 'video/mp4',
      open: (range: ByteRange) => this.storage.read(videoFileName(kind, id), range),
    };
    await this.files.send(request, response, file, link);
  }
}
