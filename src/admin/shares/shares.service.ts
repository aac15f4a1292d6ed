import { Inject, Injectable } from '@nestjs/common';
import { createKey } from '../../auth/api-key.js';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import {
  type CreatedRecordingShare,
  type CreateRecordingShare,
  RecordingShare,
  SHARED_API,
  type ShareQuery,
  ShareRemoval,
} from '../../contracts/admin/shares.routes.js';
import { epochMillis } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import { withoutFinalSlashes } from '../../contracts/common/text.js';
import type { Violation } from '../../contracts/common/violation.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { WeighedTickets } from '../../scale/weighed-tickets.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { TicketFootageService } from '../footage/ticket-footage.service.js';
import { SharesRepository } from './shares.repository.js';

const DAY_MS = 86_400_000;
const DEFAULT_LIFETIME_MS = 14 * DAY_MS;
const MAX_LIFETIME_MS = 90 * DAY_MS;

/** The links by which people without an account see a recording. */
@Injectable()
export class RecordingShares {
  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'CELL' | 'PUBLIC_URL'>,
    private readonly shares: SharesRepository,
    private readonly recordings: Recordings,
    private readonly tickets: WeighedTickets,
    private readonly footage: TicketFootageService,
  ) {}

  /**
   * The token has the form of an API key, so that it is masked wherever a key is, and only its hash is stored. `origin` is
   * that of the request.
   */
  async create(recordingId: string, request: CreateRecordingShare, origin: string): Promise<CreatedRecordingShare> {
    const { haulerId } = await this.recordings.get(recordingId);
    const now = Date.now();
    const expiresAtMs = request.expiresAt === undefined ? now + DEFAULT_LIFETIME_MS : epochMillis(request.expiresAt);
    const violations: Violation[] = isLifetime(expiresAtMs - now) ? [] : [wrongLifetime()];
    if (!(await this.mayShow(haulerId, request.ticketId))) violations.push(unknownTicket());
    if (violations.length > 0) throw invalid(violations);
    const { key: token, hash: tokenHash } = createKey(this.env.CELL);
    const row = await this.shares.insert({
      id: uuidv7(),
      recordingId,
      ticketId: request.ticketId ?? (await this.footage.ticketsOf(recordingId)).data[0]?.id ?? null,
      tokenHash,
      reason: request.reason,
      expiresAt: new Date(expiresAtMs),
    });
    if (row === undefined) {
      throw apiError(ADMIN_API, 'conflict', `the recording ${recordingId} is not stored, so that a link shows nothing`);
    }
    const { PUBLIC_URL: address } = this.env;
    const base = address === undefined ? origin : withoutFinalSlashes(address);
    return { ...toShareDto(row), url: `${base}${SHARED_API.prefix}/${token}` };
  }

  /** Newest first. */
  async listOf(recordingId: string, query: ListQuery): Promise<List<RecordingShare>> {
    await this.recordings.get(recordingId);
    const { rows, pagination } = await this.shares.page(query, { recordingId });
    return { data: rows.map(toShareDto), pagination };
  }

  /** Newest first. */
  async list(query: ShareQuery): Promise<List<RecordingShare>> {
    const { rows, pagination } = await this.shares.page(query, query);
    return { data: rows.map(toShareDto), pagination };
  }

  /** A dry run returns what would end. */
  async revoke(id: string, isDryRun = false): Promise<ShareRemoval | undefined> {
    const row = isDryRun ? await this.shares.get(id) : undefined;
    if (row !== undefined) return present(ShareRemoval, row);
    if (isDryRun || !(await this.shares.revoke(id))) throw apiError(ADMIN_API, 'notFound', `there is no link ${id}`);
    return undefined;
  }

  private async mayShow(haulerId: string, ticketId: string | undefined): Promise<boolean> {
    return ticketId === undefined || (await this.tickets.contents(ticketId))?.haulerId === haulerId;
  }
}

const isLifetime = (milliseconds: number): boolean => milliseconds > 0 && milliseconds <= MAX_LIFETIME_MS;

const wrongLifetime = (): Violation => ({
  path: 'expiresAt',
  rule: 'isRange',
  message: `expiresAt must be in the future, at most ${MAX_LIFETIME_MS / DAY_MS} days ahead`,
});

const unknownTicket = (): Violation => ({
  path: 'ticketId',
  rule: 'isKnown',
  message: 'ticketId must be the id of a ticket of the hauler of the recording',
});

const toShareDto = (row: object): RecordingShare => present(RecordingShare, row);
