import { Controller, Param, UseGuards } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  AdvanceClockRequest,
  SandboxCatalogue,
  SandboxClock,
  SandboxCustomerParam,
  SandboxScenarioParam,
  SandboxSubjectParam,
  StartScenarioRequest,
} from '../contracts/admin/sandbox.dto.js';
import { JsonBody } from '../http/json-body.js';
import { ClockEvents } from '../reference-partner/vision/clock-events.service.js';
import { SandboxGuard } from '../sandbox/sandbox.guard.js';
import { SandboxService } from '../sandbox/sandbox.service.js';

/** The scenarios of haulers and customers. */
@UseGuards(SandboxGuard)
@Controller()
export class SandboxController {
  constructor(private readonly sandbox: SandboxService) {}

  @Route(ADMIN_API, 'listSandboxScenarios')
  async catalogue(): Promise<SandboxCatalogue> {
    return this.sandbox.catalogue();
  }

  @Route(ADMIN_API, 'listActiveScenarios')
  list(@Param() subject: SandboxSubjectParam): Promise<ActiveSandboxScenarios> {
    return this.sandbox.list(subject);
  }

  @Route(ADMIN_API, 'startScenario')
  start(
    @Param() { name, ...subject }: SandboxScenarioParam,
    @JsonBody() request: StartScenarioRequest,
  ): Promise<ActiveSandboxScenario> {
    return this.sandbox.start(subject, name, request);
  }

  @Route(ADMIN_API, 'endScenario')
  async end(@Param() { name, ...subject }: SandboxScenarioParam): Promise<void> {
    await this.sandbox.end(subject, name);
  }
}

/** The clock of the reference partner; loaded with the partner side. */
@UseGuards(SandboxGuard)
@Controller()
export class SandboxClockController {
  constructor(private readonly clock: ClockEvents) {}

  @Route(ADMIN_API, 'advanceClock')
  async advance(
    @Param() { customerId }: SandboxCustomerParam,
    @JsonBody() request: AdvanceClockRequest,
  ): Promise<SandboxClock> {
    return this.clock.advance(customerId, request);
  }
}
