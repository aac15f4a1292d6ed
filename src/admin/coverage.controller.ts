import { Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { Coverage, CoverageQuery } from '../contracts/admin/recording.dto.js';
import { CoverageService } from '../vision/recordings/coverage.service.js';

@AdminApi('coverage')
export class CoverageController {
  constructor(private readonly coverage: CoverageService) {}

  @Get()
  @ApiOperation({
    summary: "Read what there is of a truck's recordings",
    description: 'Camera by camera, every moment of the asked time: stored, available, missing or expired, and why.',
  })
  @ApiOkResponse({ description: 'The intervals', type: Coverage })
  of(@Query() query: CoverageQuery): Promise<Coverage> {
    return this.coverage.of(query);
  }
}
