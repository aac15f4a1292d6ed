import { Controller, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { CoverageQuery, CoverageSummaryQuery, FleetCoverageQuery } from '../contracts/admin/coverage.routes.js';
import { listAnswer } from '../core/http/list-answer.js';
import { CoverageService } from '../vision/coverage/coverage.service.js';
import { CoverageSummaries, FleetCoverage } from '../vision/coverage/fleet-coverage.service.js';

/** Which footage is stored, of one truck and of all. */
@Controller()
export class CoverageController {
  constructor(
    private readonly coverage: CoverageService,
    private readonly summaries: CoverageSummaries,
    private readonly fleet: FleetCoverage,
  ) {}

  @Route(ADMIN_API, 'getCoverage')
  getCoverage(@Query() query: CoverageQuery, @Req() request: Request) {
    return listAnswer(request, query, () => this.coverage.of(query));
  }

  @Route(ADMIN_API, 'getCoverageSummary')
  getCoverageSummary(@Query() query: CoverageSummaryQuery) {
    return this.summaries.of(query);
  }

  @Route(ADMIN_API, 'listFleetCoverage')
  listFleetCoverage(@Query() query: FleetCoverageQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.fleet.list(part));
  }
}
