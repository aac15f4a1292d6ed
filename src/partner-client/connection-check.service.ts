import { Injectable } from '@nestjs/common';
import type { CheckedRule, ConnectionCheck } from '../contracts/admin/connection-check.dto.js';
import type { PartnerInterface } from '../contracts/admin/connection.dto.js';
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
  readonly operation: string;
  readonly call: (connection: ConnectionEntity) => PartnerCall;
  readonly findings: (answer: StreamedAnswer) => Promise<Findings>;
}

/** One GET of each interface. */
const PROBES: Record<PartnerInterface, Probe> = {
  site: {
    operation: 'getSites',
    call: ({ haulerId }) => ({ api: SITE_API, route: SITE_API.routes.getSites, query: { haulerId } }),
    findings: siteFindings,
  },
  vision: {
    operation: 'listVideos',
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
  'switchedOff',
  'broken',
  'timedOut',
  'connectionChanged',
]);

/** Checks what a partner's lists link to. The module of Vision provides it. */
export interface FileCheck {
  /** The truck of the newest subscription. */
  truckOf(connectionId: string): Promise<string | undefined>;
  /** Follows the link of one listed recording, and reads its whole file. The signal ends it, and nothing is proven then. */
  rules(connectionId: string, truckId: string | undefined, signal: AbortSignal): Promise<CheckedRule[]>;
}

/** Calls a partner, to show an admin what about its connection is proven. */
@Injectable()
export class ConnectionCheckService {
  private files: FileCheck | undefined;

  constructor(
    private readonly connections: ConnectionsService,
    private readonly client: PartnerClient,
    private readonly kit: ConnectionRulesService,
  ) {}

  useFiles(files: FileCheck): void {
    this.files = files;
  }

  /** A failure of the partner is part of the result; only an unknown id is an error. */
  async check(id: string, truckId?: string): Promise<ConnectionCheck> {
    const connection = await this.connections.required(id);
    const signal = timeLimit();
    const { reachable, isUnknown = false, ...first } = await this.probe(connection, signal);
    if (!reachable || !first.authorized) return { reachable, ...first, proven: 0, of: 0, rules: [] };
    const files = connection.interface === 'vision' ? this.files : undefined;
    const truck = truckId ?? (await files?.truckOf(id));
    const { rules: ofKit, asked, unproven } = await this.kit.rules(connection, truck, { isUnknown, signal });
    const ofFiles = (await files?.rules(id, truck, signal)) ?? [];
    const counted = [...ofKit.filter((rule) => asked.has(rule.id)), ...ofFiles].filter(
      ({ outcome }) => outcome !== 'not-applicable',
    );
    const open = counted.filter(({ outcome }) => outcome === 'not-proven' || outcome === 'kit-error');
    const faults = counted.filter(({ outcome }) => outcome === 'failed');
    const isFaulty = first.conforms === false || faults.length > 0;
    // The findings of a faulty first answer name the faults of its rules.
    const named = first.conforms === false ? PROBES[connection.interface].operation : undefined;
    const notes = [...faults, ...ofFiles.filter(({ outcome }) => outcome === 'not-proven')]
      .filter(({ operation }) => operation !== named)
      .map(findingOf);
    return {
      reachable,
      ...first,
      conforms: isFaulty ? false : open.length > 0 ? null : first.conforms,
      proven: counted.length - open.length - faults.length,
      of: counted.length,
      findings: [...first.findings, ...notes, ...unproven].slice(0, MAX_FINDINGS),
      rules: [...ofKit, ...ofFiles],
    };
  }

  private async probe(
    connection: ConnectionEntity,
    signal: AbortSignal,
  ): Promise<Findings & { readonly reachable: boolean }> {
    const { call, findings } = PROBES[connection.interface];
    const options = { ...call(connection), accept: [200, 404], once: true, duringPause: true, signal };
    try {
      const found = await this.client.stream(connection, options, async (answer) =>
        answer.status === 404 ? noDataFindings(await answer.whole()) : await findings(answer),
      );
      return { reachable: true, ...found };
    } catch (error) {
      return failed(error);
    }
  }
}

const MAX_FINDINGS = 100;

/** An admin waits for the check, and our server closes a connection that is silent for 2 minutes. */
const MAX_MS = 100_000;

/** Aborts with a failure, which is part of the result as any other. */
function timeLimit(): AbortSignal {
  const limit = new AbortController();
  const message = `The check ended after ${MAX_MS / 1_000} s.`;
  AbortSignal.timeout(MAX_MS).addEventListener('abort', () => limit.abort(new PartnerFailure('timedOut', message)));
  return limit.signal;
}

const findingOf = ({ id, operation, message }: CheckedRule): string => `${id} (${operation}): ${message}`;

function failed(error: unknown): Findings & { readonly reachable: boolean } {
  if (error instanceof SealBrokenError) {
    return { reachable: false, authorized: false, conforms: false, findings: [error.message] };
  }
  if (!(error instanceof PartnerFailure)) throw error;
  const reachable = !UNREACHABLE_KINDS.has(error.kind);
  return {
    reachable,
    authorized: reachable && error.kind !== 'unauthorized' && error.status !== 403,
    conforms: false,
    findings: [error.message],
  };
}
