import { Injectable } from '@nestjs/common';
import type { CheckedRule, ConnectionCheck } from '../contracts/admin/connection-check.dto.js';
import { ConnectionRulesService } from './connection-rules.service.js';
import { ConnectionsService } from './connections.service.js';
import { PartnerFailure } from './partner-failure.js';

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
    private readonly kit: ConnectionRulesService,
  ) {}

  useFiles(files: FileCheck): void {
    this.files = files;
  }

  /** A failure of the partner is part of the result; only an unknown id is an error. */
  async check(id: string, truckId?: string): Promise<ConnectionCheck> {
    const connection = await this.connections.required(id);
    const signal = timeLimit();
    const files = connection.interface === 'vision' ? this.files : undefined;
    const truck = truckId ?? (await files?.truckOf(id));
    const { reachable, authorized, asked, findings, rules: ofKit } = await this.kit.rules(connection, truck, signal);
    if (!reachable || !authorized)
      return { reachable, authorized, conforms: false, proven: 0, of: 0, findings: [...findings], rules: [] };
    const ofFiles = (await files?.rules(id, truck, signal)) ?? [];
    const counted = [...ofKit.filter((rule) => asked.has(rule.id)), ...ofFiles].filter(
      ({ outcome }) => outcome !== 'not-applicable',
    );
    const open = counted.filter(({ outcome }) => outcome === 'not-proven' || outcome === 'kit-error');
    const faults = counted.filter(({ outcome }) => outcome === 'failed');
    const unproven = ofFiles.filter(({ outcome }) => outcome === 'not-proven');
    return {
      reachable,
      authorized,
      conforms: faults.length > 0 ? false : open.length > 0 ? null : true,
      proven: counted.length - open.length - faults.length,
      of: counted.length,
      findings: [...findings, ...[...faults, ...unproven].map(findingOf)].slice(0, MAX_FINDINGS),
      rules: [...ofKit, ...ofFiles],
    };
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
