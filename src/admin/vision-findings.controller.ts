import { Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { List, listOf } from '../contracts/admin/list.dto.js';
import { VisionFinding, VisionFindingQuery } from '../contracts/admin/vision-finding.dto.js';
import { FindingQueries } from '../vision/finding.queries.js';

@AdminApi('vision-findings')
export class VisionFindingsController {
  constructor(private readonly findings: FindingQueries) {}

  @Get()
  @ApiOperation({
    summary: "List what partners' video lists had wrong",
    description: 'The latest first seen first; elements that are named here were passed over, the others landed.',
  })
  @ApiOkResponse({ description: 'A page of findings', type: listOf(VisionFinding) })
  list(@Query() query: VisionFindingQuery): Promise<List<VisionFinding>> {
    return this.findings.list(query);
  }
}
