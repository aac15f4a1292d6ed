import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { HostedFiles } from './files.service.js';
import { FILES_PREFIX } from './links.js';

/** No API key here: the link itself is the permission, for a while. */
@ApiExcludeController()
@Controller(FILES_PREFIX)
export class HostedFilesController {
  constructor(private readonly files: HostedFiles) {}

  @Get('recordings/:id.mp4')
  recording(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('recordings', id, request, response);
  }

  @Get('clips/:id.mp4')
  clip(@Param('id') id: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.files.send('clips', id, request, response);
  }
}
