import { Controller, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/caller.js';
import { Route } from '../../auth/route.js';
import {
  AdvanceClockRequest,
  SandboxScenarioName,
  StartScenarioRequest,
} from '../../contracts/admin/sandbox.routes.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { JsonBody } from '../../core/http/json-body.js';
import { ClockEvents } from '../../reference-partner/vision/clock-events.service.js';
import { SandboxService } from '../../reference-partner/sandbox/sandbox.service.js';
import { PartnerSandbox } from './partner-sandbox.service.js';

/** A partner's own scenarios. */
@Controller()
export class PartnerScenariosController {
  constructor(
    private readonly sandbox: SandboxService,
    private readonly partner: PartnerSandbox,
  ) {}

  @Route(PARTNER_API, 'listOwnScenarios')
  catalogue() {
    return this.sandbox.catalogue();
  }

  @Route(PARTNER_API, 'listOwnActiveScenarios')
  active(@Req() { call }: Request) {
    return this.partner.active(principalOf(call));
  }

  @Route(PARTNER_API, 'startOwnScenario')
  start(@Param() { name }: SandboxScenarioName, @JsonBody() request: StartScenarioRequest, @Req() { call }: Request) {
    return this.partner.start(principalOf(call), name, request);
  }

  @Route(PARTNER_API, 'endOwnScenario')
  async end(@Param() { name }: SandboxScenarioName, @Req() { call }: Request) {
    await this.partner.end(principalOf(call), name);
  }
}

/** The clock of the reference partner; loaded with the partner side. */
@Controller()
export class PartnerClockController {
  constructor(
    private readonly partner: PartnerSandbox,
    private readonly clock: ClockEvents,
  ) {}

  @Route(PARTNER_API, 'advanceOwnClock')
  async advance(@JsonBody() request: AdvanceClockRequest, @Req() { call }: Request) {
    return this.clock.advance(this.partner.customerOf(principalOf(call)), request);
  }
}
