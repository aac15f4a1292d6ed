import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { VideoFiles } from './video-files.service.js';
import { FILES_PREFIX } from './download-links.js';

/** Needs no API key: the signed link grants access until it expires. */
@ApiExcludeController()
@Controller(FILES_PREFIX)
export class VideoFilesController {
  constructor(private readonly files: VideoFiles) {}

  @Get('recordings/:id.mp4')
  recording(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('recordings', id, request, response);
  }

  @Get('clips/:id.mp4')
  clip(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('clips', id, request, response);
  }
}
