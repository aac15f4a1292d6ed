import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { isUuid } from '../../contracts/common/text.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { apiError } from '../../errors/app-error.js';
import { sendFile } from '../../http/send-file.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { type FilmKind, filmName, findFilm } from './film-tables.js';
import { DownloadLinks } from './links.js';

/** The files behind the download links (decision 46). */
@Injectable()
export class HostedFiles {
  constructor(
    private readonly dataSource: DataSource,
    private readonly links: DownloadLinks,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  async send(kind: FilmKind, id: string, request: Request, response: Response): Promise<void> {
    this.links.verify(kind, id, request.query['expires'], request.query['signature']);
    const film = isUuid(id) ? await findFilm(this.dataSource, kind, 'id', id) : undefined;
    if (film === undefined) throw apiError(VISION_API, 'notFound', 'the file is no longer there');
    await sendFile(request, response, {
      size: film.sizeBytes,
      etag: `"${film.sha256}"`,
      contentType: 'video/mp4',
      open: (range) => this.storage.read(filmName(kind, id), range),
    });
  }
}
