import { Inject, Injectable, Optional } from '@nestjs/common';
import { ENV, type Env } from '../../core/config/env.js';
import type { CheckedRule } from '../../contracts/admin/connections.routes.js';
import { instantOf } from '../../contracts/common/instant.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { outboundPolicy } from '../../core/outbound/address-guard.js';
import { InvalidMp4Error, Mp4BoxValidator } from '../../core/media/mp4-box-validator.js';
import { hasVisibleEnd } from '../../core/media/file-headers.js';
import { redactText } from '../../core/observability/redaction.js';
import { inCallContext, OUTBOUND_LOG, type OutboundLog } from '../../core/outbound/outbound-log.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { type VisionCall, VisionClient } from '../client/vision.client.js';
import { VisionConnections } from '../client/vision-connections.repository.js';
import { SubscriptionsRepository } from '../continuous/subscriptions.repository.js';
import { connectionError, DownloadError, type DownloadErrorKind, invalidMp4 } from './download-error.js';
import { announcedSize, DOWNLOAD_LIMITS, endsWithReset } from './downloader.js';
import { linkOpener, type LinkResponse, type OpenLink } from './link-request.js';

/** The last day first, because its links are the newest; then as far back as recordings are read again (decision 48). */
const LISTED_DAYS = [1, 14];

const LINK = {
  id: 'CHECK-LINK',
  operation: 'download',
  remedy: 'List links that work without a key until `expiresAt`, on a host that the platform can reach.',
};
const FILE = {
  id: 'CHECK-FILE',
  operation: 'download',
  remedy: 'Answer a link with 200 and the whole MP4 file, and list a recording only when its file is whole.',
};

/** Failures of the link itself; every other one is of the file behind it. */
const LINK_FAULTS: ReadonlySet<DownloadErrorKind> = new Set(['link-refused', 'address-refused', 'bad-answer']);

/** A camera that needs longer to wake up proves nothing. */
const LATE = 'the check ended before the file was complete';

/** Follows the link of one listed recording, as a download would, and keeps nothing of its file. */
@Injectable()
export class DownloadCheck {
  private readonly openLink: OpenLink;

  constructor(
    private readonly connections: VisionConnections,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly client: VisionClient,
    @Inject(ENV) env: Env,
    @Optional() @Inject(OUTBOUND_LOG) log?: OutboundLog,
  ) {
    this.openLink = linkOpener(outboundPolicy(env), log);
  }

  /** The truck of the newest subscription. */
  truckOf(connectionId: string): Promise<string | undefined> {
    return this.subscriptions.newestTruck(connectionId);
  }

  /** Reads the whole file of a link. The signal ends it, and nothing is proven then. */
  async rules(connectionId: string, truckId: string | undefined, signal: AbortSignal): Promise<CheckedRule[]> {
    const connection = await this.connections.find(connectionId);
    if (connection === undefined) return [];
    const listed = await this.listed({ connection, signal }, truckId);
    if (typeof listed === 'string') return [notProven(LINK, listed), notProven(FILE, listed)];
    const { haulerId } = connection;
    try {
      await inCallContext({ references: [], haulerId, connectionId }, async () =>
        readFile(await this.openLink({ url: listed.downloadUrl, signal }, DOWNLOAD_LIMITS)),
      );
      return [passed(LINK), passed(FILE)];
    } catch (error) {
      if (signal.aborted) return [notProven(LINK, LATE), notProven(FILE, LATE)];
      if (!(error instanceof DownloadError)) throw error;
      return rulesOf(error);
    }
  }

  /** The last recording of a list, or why there is none. */
  private async listed(call: VisionCall, truckId: string | undefined): Promise<Recording | string> {
    const { customerId } = call.connection;
    let last: Recording | undefined;
    const keep = (items: readonly Recording[]) => void (last = items.at(-1) ?? last);
    try {
      for (const days of LISTED_DAYS) {
        if (truckId === undefined || last !== undefined) break;
        const now = Date.now();
        const range = { startTime: instantOf(new Date(now - days * 86_400_000)), endTime: instantOf(new Date(now)) };
        const query = { customerId, truckId, ...range, page: 1, pageSize: 100 };
        await this.client.listContinuous(query, call, keep);
      }
      if (last === undefined) await this.client.listVideos({ customerId, page: 1, pageSize: 100 }, call, keep);
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return error.message;
    }
    if (last !== undefined) return last;
    return truckId === undefined
      ? 'the partner lists no clip of this customer: name a truckId, whose recordings are listed then'
      : `the partner lists no recording of ${truckId} within the last ${LISTED_DAYS.at(-1)} days, and no clip`;
  }
}

/** Throws `DownloadError` if the answer is not one whole MP4 file. */
async function readFile(answer: LinkResponse): Promise<void> {
  const { host, response, counted } = answer;
  const boxes = new Mp4BoxValidator(redactText);
  const mayBeCut = !hasVisibleEnd(response.headers);
  try {
    announcedSize(answer, DOWNLOAD_LIMITS.maxBytes);
    for await (const chunk of response as AsyncIterable<Buffer>) {
      counted(chunk.length);
      boxes.update(chunk);
    }
    boxes.end(mayBeCut);
  } catch (error) {
    if (mayBeCut && endsWithReset(error, boxes)) return;
    if (error instanceof InvalidMp4Error) throw invalidMp4(host, response.headers['content-type'], error);
    throw connectionError(host, error, true);
  } finally {
    response.destroy();
  }
}

type Facts = Pick<CheckedRule, 'id' | 'operation' | 'remedy'>;

const passed = ({ id, operation }: Facts): CheckedRule => ({ id, operation, outcome: 'passed', message: '' });
const failed = (facts: Facts, message: string): CheckedRule => ({ ...facts, outcome: 'failed', message });
const notProven = ({ id, operation }: Facts, message: string): CheckedRule => ({
  id,
  operation,
  outcome: 'not-proven',
  message,
});

function rulesOf({ kind, message, isUnreached, status }: DownloadError): CheckedRule[] {
  if (LINK_FAULTS.has(kind) || isUnreached) return [failed(LINK, message), notProven(FILE, 'it needs CHECK-LINK')];
  // The host answered that it has no file now.
  if (status !== undefined) return [notProven(LINK, message), notProven(FILE, message)];
  return [passed(LINK), failed(FILE, message)];
}
