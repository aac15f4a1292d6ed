import { Injectable } from '@nestjs/common';
import type { ConnectionCheck } from '../contracts/admin/connection.dto.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { noDataFindings, type Findings, siteFindings, videoFindings } from './check-rules.js';
import type { ConnectionEntity } from './connection.entity.js';
import { ConnectionsService } from './connections.service.js';
import type { PartnerAnswer } from './partner-answer.js';
import { type PartnerCall, PartnerClient } from './partner-client.js';
import type { PartnerInterface } from './partner-connection.js';
import { type FailureKind, PartnerFailure } from './partner-failure.js';
import { SealBroken } from './sealed-keys.js';

/** One harmless call of each interface, and what its answer is held to. */
const PROBES: Record<
  PartnerInterface,
  {
    readonly call: (connection: ConnectionEntity) => PartnerCall;
    readonly judge: (answer: PartnerAnswer) => Promise<Findings>;
  }
> = {
  site: {
    call: ({ haulerId }) => ({ api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId } }),
    judge: siteFindings,
  },
  vision: {
    call: ({ haulerId, customerId }) => ({
      api: VISION_API,
      route: VISION_API.routes.listVideos,
      query: { customerId: customerId ?? haulerId },
    }),
    judge: videoFindings,
  },
};

const NOT_REACHED: ReadonlySet<FailureKind> = new Set([
  'addressRefused',
  'unreachable',
  'broken',
  'timedOut',
  'withdrawn',
]);

/** Calls a partner once, for an admin who wants to know whether a connection works. */
@Injectable()
export class ConnectionCheckService {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly client: PartnerClient,
  ) {}

  /** A connection that does not work is an answer too; only an unknown id is an error. */
  async check(id: string): Promise<ConnectionCheck> {
    const connection = await this.connections.required(id);
    const { call, judge } = PROBES[connection.interface];
    try {
      const answer = await this.client.call(connection, {
        ...call(connection),
        accept: [200, 404],
        once: true,
        breaker: false,
      });
      return { reachable: true, ...(await (answer.status === 404 ? noDataFindings(answer) : judge(answer))) };
    } catch (error) {
      return failed(error);
    }
  }
}

function failed(error: unknown): ConnectionCheck {
  if (error instanceof SealBroken) {
    return { reachable: false, authorized: false, conforms: false, findings: [error.message] };
  }
  if (!(error instanceof PartnerFailure)) throw error;
  return {
    reachable: !NOT_REACHED.has(error.kind),
    authorized: false,
    conforms: false,
    findings: [error.message],
  };
}
