import { Injectable } from '@nestjs/common';
import type { CheckedRule, ConnectionCheck, PartnerInterface } from '../contracts/admin/connection.dto.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { SealBrokenError } from './connection-keys.service.js';
import { noDataFindings, type Findings, siteFindings, videoFindings } from './connection-check.rules.js';
import { ConnectionRulesService } from './connection-rules.service.js';
import type { ConnectionEntity } from './connection.entity.js';
import { ConnectionsService } from './connections.service.js';
import type { StreamedAnswer } from './partner-answer.js';
import { type PartnerCall, PartnerClient } from './partner-client.js';
import { type FailureKind, PartnerFailure } from './partner-failure.js';

interface Probe {
  readonly call: (connection: ConnectionEntity) => PartnerCall;
  readonly findings: (answer: StreamedAnswer) => Promise<Findings>;
}

/** One GET of each interface. */
const PROBES: Record<PartnerInterface, Probe> = {
  site: {
    call: ({ haulerId }) => ({ api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId } }),
    findings: siteFindings,
  },
  vision: {
    call: ({ haulerId, customerId }) => ({
      api: VISION_API,
      route: VISION_API.routes.listVideos,
      query: { customerId: customerId ?? haulerId },
    }),
    findings: videoFindings,
  },
};

const UNREACHABLE_KINDS: ReadonlySet<FailureKind> = new Set([
  'addressRefused',
  'unreachable',
  'broken',
  'timedOut',
  'connectionChanged',
]);

/** Calls a partner once, to show an admin whether a connection works. */
@Injectable()
export class ConnectionCheckService {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly client: PartnerClient,
    private readonly kit: ConnectionRulesService,
  ) {}

  /** A failure of the partner is part of the result; only an unknown id is an error. */
  async check(id: string): Promise<ConnectionCheck> {
    const connection = await this.connections.required(id);
    const { call, findings } = PROBES[connection.interface];
    try {
      const options = { ...call(connection), accept: [200, 404], once: true, duringPause: true };
      const found = await this.client.stream(connection, options, async (answer) =>
        answer.status === 404 ? noDataFindings(await answer.whole()) : await findings(answer),
      );
      const { rules, unproven } = found.authorized ? await this.kit.rules(connection) : { rules: [], unproven: [] };
      const faults = rules.filter(({ outcome }) => outcome === 'failed');
      return {
        reachable: true,
        ...found,
        conforms: found.conforms && faults.length === 0,
        // The findings of the first call name the same faults.
        findings: found.conforms ? [...found.findings, ...faults.map(findingOf), ...unproven] : found.findings,
        rules,
      };
    } catch (error) {
      return failed(error);
    }
  }
}

const findingOf = ({ id, message }: CheckedRule): string => `${id}: ${message}`;

function failed(error: unknown): ConnectionCheck {
  if (error instanceof SealBrokenError) {
    return { reachable: false, authorized: false, conforms: false, findings: [error.message], rules: [] };
  }
  if (!(error instanceof PartnerFailure)) throw error;
  return {
    reachable: !UNREACHABLE_KINDS.has(error.kind),
    authorized: false,
    conforms: false,
    findings: [error.message],
    rules: [],
  };
}
