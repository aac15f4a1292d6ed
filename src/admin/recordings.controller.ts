import { Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { RecordingQuery, StoredRecording } from '../contracts/admin/recording.dto.js';
import { OUT_OF_RANGE, SendsFile } from '../http/file-documentation.js';
import { FailsWith } from '../http/route-documentation.js';
import { RecordingContent } from '../vision/recordings/recording-content.js';
import { RecordingQueries } from '../vision/recordings/recording.queries.js';

@AdminApi('recordings')
export class RecordingsController {
  constructor(
    private readonly recordings: RecordingQueries,
    private readonly content: RecordingContent,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List recordings', description: 'The latest start first.' })
  @ApiOkResponse({ description: 'A page of recordings', type: listOf(StoredRecording) })
  list(@Query() query: RecordingQuery): Promise<List<StoredRecording>> {
    return this.recordings.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a recording', description: 'By its id.' })
  @ApiOkResponse({ description: 'The recording', type: StoredRecording })
  @FailsWith({ notFound: 'There is no such recording' })
  get(@Param() { id }: IdParam): Promise<StoredRecording> {
    return this.recordings.get(id);
  }

  @Get(':id/content')
  @ApiOperation({
    summary: "Read a recording's bytes",
    description: 'The whole film, or the part that `Range` asks for.',
  })
  @SendsFile('video/mp4')
  @FailsWith({
    notFound: 'There is no such recording, or its file is not stored',
    rangeNotSatisfiable: OUT_OF_RANGE,
  })
  read(@Param() { id }: IdParam, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.content.send(id, request, response);
  }
}
