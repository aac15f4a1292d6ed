import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, UseGuards } from '@nestjs/common';
import { principalOf } from '../auth/hosted-call.js';
import { PartnerKeyGuard } from '../auth/partner-key.guard.js';
import type { AuthenticatedRequest } from '../auth/principal.js';
import {
  ActiveSandboxScenario,
  AdvanceClockRequest,
  SandboxCatalogue,
  SandboxClock,
  SandboxScenarioName,
  StartScenarioRequest,
} from '../contracts/admin/sandbox.dto.js';
import { JsonBody } from '../http/json-body.js';
import { ClockEvents } from '../reference-partner/vision/clock-events.service.js';
import { SandboxGuard } from '../sandbox/sandbox.guard.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { PartnerSandbox } from './partner-sandbox.service.js';

const PREFIX = '/partner/v1/sandbox';

/** A partner's own scenarios. */
@Controller(PREFIX)
@UseGuards(PartnerKeyGuard, SandboxGuard)
export class PartnerScenariosController {
  constructor(
    private readonly sandbox: SandboxService,
    private readonly partner: PartnerSandbox,
  ) {}

  @Get('scenarios')
  catalogue(): SandboxCatalogue {
    return this.sandbox.catalogue();
  }

  @Put('scenarios/:name')
  start(
    @Param() { name }: SandboxScenarioName,
    @JsonBody() request: StartScenarioRequest,
    @Req() call: AuthenticatedRequest,
  ): Promise<ActiveSandboxScenario> {
    return this.partner.start(principalOf(call), name, request);
  }

  @Delete('scenarios/:name')
  @HttpCode(204)
  async end(@Param() { name }: SandboxScenarioName, @Req() call: AuthenticatedRequest): Promise<void> {
    await this.partner.end(principalOf(call), name);
  }
}

/** The clock of the reference partner; loaded with the partner side. */
@Controller(PREFIX)
@UseGuards(PartnerKeyGuard, SandboxGuard)
export class PartnerClockController {
  constructor(
    private readonly partner: PartnerSandbox,
    private readonly clock: ClockEvents,
  ) {}

  @Post('clock')
  @HttpCode(200)
  async advance(@JsonBody() request: AdvanceClockRequest, @Req() call: AuthenticatedRequest): Promise<SandboxClock> {
    return this.clock.advance(this.partner.customerOf(principalOf(call)), request);
  }
}
