import { Controller } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { OutboundRequest } from '../contracts/admin/outbound.routes.js';
import { apiError } from '../core/errors/app-error.js';
import { JsonBody } from '../core/http/json-body.js';
import { OutboundSwitch } from '../core/outbound/outbound-switch.js';

const BY_ADMIN = 'an admin has switched the calls off';

@Controller()
export class OutboundController {
  constructor(private readonly outbound: OutboundSwitch) {}

  @Route(ADMIN_API, 'getOutbound')
  async get() {
    const { reason, since } = await this.outbound.read();
    return {
      enabled: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      ...(since === undefined ? {} : { since: since.toISOString() }),
    };
  }

  @Route(ADMIN_API, 'setOutbound')
  async set(@JsonBody() { enabled, reason = BY_ADMIN }: OutboundRequest) {
    const { isOffByVariable } = await this.outbound.read();
    if (enabled && isOffByVariable)
      throw apiError(
        ADMIN_API,
        'conflict',
        'OUTBOUND=off in the environment of the service: start it with OUTBOUND=on',
      );
    await this.outbound.set(enabled, reason);
    return this.get();
  }
}
