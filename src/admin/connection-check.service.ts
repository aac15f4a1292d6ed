import { Injectable } from '@nestjs/common';
import type { CheckedRule, ConnectionCheck } from '../contracts/admin/connections.routes.js';
import { ConnectionRulesService } from '../partner-client/connection-rules.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { PartnerFailure } from '../partner-client/partner-failure.js';
import { DownloadCheck } from '../vision/downloads/download-check.service.js';

/** Calls a partner, to show an admin what about its connection is proven. */
@Injectable()
export class ConnectionCheckService {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly kit: ConnectionRulesService,
    private readonly files: DownloadCheck,
  ) {}

  /** A failure of the partner is part of the result; only an unknown id is an error. `left` aborts when the caller has left. */
  async check(id: string, truckId: string | undefined, left: AbortSignal): Promise<ConnectionCheck> {
    const connection = await this.connections.required(id);
    const signal = timeLimit(left);
    const isVision = connection.interface === 'vision';
    const truck = truckId ?? (isVision ? await this.files.truckOf(id) : undefined);
    const {
      reachable,
      authorized,
      asked,
      total,
      findings,
      rules: ofKit,
    } = await this.kit.rules(connection, truck, signal);
    if (!reachable || !authorized)
      return {
        reachable,
        authorized,
        conforms: false,
        proven: 0,
        of: 0,
        ofKit: total,
        findings: [...findings],
        rules: [],
      };
    const ofFiles = isVision ? await this.files.rules(id, truck, signal) : [];
    const counted = [...ofKit.filter((rule) => asked.has(rule.id)), ...ofFiles].filter(
      ({ outcome }) => outcome !== 'not-applicable',
    );
    const open = counted.filter(({ outcome }) => outcome === 'not-proven' || outcome === 'kit-error');
    const faults = counted.filter(({ outcome }) => outcome === 'failed');
    const unproven = ofFiles.filter(({ outcome }) => outcome === 'not-proven');
    const [first] = faults.length > 0 ? [] : open.filter(({ id: rule }) => asked.has(rule));
    const openRules = `${open.length} of ${counted.length} rules are not proven, the first of them: `;
    return {
      reachable,
      authorized,
      conforms: faults.length > 0 ? false : open.length > 0 ? null : true,
      proven: counted.length - open.length - faults.length,
      of: counted.length,
      ofKit: total + ofFiles.length,
      findings: [
        ...findings,
        ...(first === undefined ? [] : [`${openRules}${findingOf(first)}`]),
        ...[...faults, ...unproven].map(findingOf),
      ].slice(0, MAX_FINDINGS),
      rules: [...ofKit, ...ofFiles],
    };
  }
}

const MAX_FINDINGS = 100;

/** An admin waits for the check. */
const MAX_MS = 100_000;

/** Aborts with a failure, which is part of the result as any other. */
function timeLimit(left: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const end = (message: string) => limit.abort(new PartnerFailure('timedOut', message));
  AbortSignal.timeout(MAX_MS).addEventListener('abort', () => end(`The check ended after ${MAX_MS / 1_000} s.`));
  left.addEventListener('abort', () => end('The caller left.'));
  return limit.signal;
}

const findingOf = ({ id, operation, message }: CheckedRule): string => `${id} (${operation}): ${message}`;
