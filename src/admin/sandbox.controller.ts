import { Controller, Param } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  AdvanceClockRequest,
  SandboxCustomerParam,
  SandboxScenarioParam,
  SandboxSubjectParam,
  StartScenarioRequest,
} from '../contracts/admin/sandbox.routes.js';
import { JsonBody } from '../core/http/json-body.js';
import { ClockEvents } from '../reference-partner/vision/clock-events.service.js';
import { SandboxService } from '../reference-partner/sandbox/sandbox.service.js';

/** The scenarios of haulers and customers. */
@Controller()
export class SandboxController {
  constructor(private readonly sandbox: SandboxService) {}

  @Route(ADMIN_API, 'listSandboxScenarios')
  async catalogue() {
    return this.sandbox.catalogue();
  }

  @Route(ADMIN_API, 'listRunningScenarios')
  running() {
    return this.sandbox.running();
  }

  @Route(ADMIN_API, 'listActiveScenarios')
  list(@Param() subject: SandboxSubjectParam) {
    return this.sandbox.list(subject);
  }

  @Route(ADMIN_API, 'startScenario')
  start(@Param() { name, ...subject }: SandboxScenarioParam, @JsonBody() request: StartScenarioRequest) {
    return this.sandbox.start(subject, name, request);
  }

  @Route(ADMIN_API, 'endScenario')
  async end(@Param() { name, ...subject }: SandboxScenarioParam) {
    await this.sandbox.end(subject, name);
  }
}

/** The clock of the reference partner; loaded with the partner side. */
@Controller()
export class SandboxClockController {
  constructor(private readonly clock: ClockEvents) {}

  @Route(ADMIN_API, 'advanceClock')
  async advance(@Param() { customerId }: SandboxCustomerParam, @JsonBody() request: AdvanceClockRequest) {
    return this.clock.advance(customerId, request);
  }
}
