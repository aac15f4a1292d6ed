import { Injectable } from '@nestjs/common';
import { WeighedTickets } from '../../scale/weighed-tickets.js';
import { CatalogLists } from '../../site-sync/catalog/catalog-lists.service.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { askingPage, BROKEN_LINK_PAGE, type SharedFacts, sharedPage } from './shared-page.js';
import { type OpenShare, SharesRepository } from './shares.repository.js';
import { LONE_PAGE_HEADERS } from '../../core/http/lone-page.js';
import type { Request, Response } from 'express';
import { ActionLog } from '../../auth/action-log.repository.js';
import { hashKey } from '../../auth/api-key.js';
import { GuessLimit } from '../../auth/limits.js';
import { AppError } from '../../core/errors/app-error.js';

/** The recording, the ticket and the site of a link. */
@Injectable()
export class ShareContents {
  constructor(
    private readonly recordings: Recordings,
    private readonly tickets: WeighedTickets,
    private readonly catalog: CatalogLists,
  ) {}

  /** Undefined if the recording is gone. */
  async read(share: OpenShare): Promise<Pick<SharedFacts, 'recording' | 'ticket' | 'siteName'> | undefined> {
    const [recording] = await this.recordings.find([share.recording_id]);
    if (recording === undefined) return undefined;
    const ticket = share.ticket_id === null ? undefined : await this.tickets.contents(share.ticket_id);
    const siteName = ticket && (await this.siteName(share.hauler_id, ticket.siteId));
    return { recording, ticket, siteName };
  }

  private async siteName(haulerId: string, siteId: string): Promise<string | undefined> {
    return (await this.catalog.sites({ haulerId, siteId, pageSize: 1 })).data[0]?.name;
  }
}

/** Of the page and of its video. */
const PRIVATE = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' };

/** What people see who have a link. Every link that does not work gets the same answer, after the same statement. */
@Injectable()
export class SharedRecordings {
  constructor(
    private readonly shares: SharesRepository,
    private readonly recordings: Recordings,
    private readonly contents: ShareContents,
    private readonly guesses: GuessLimit,
    private readonly actions: ActionLog,
  ) {}

  /** The page that asks. It names nothing, because chats and mail programs preview the links in messages. */
  async open(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token);
    if (share === undefined) return this.refuse(token, request, response);
    sendPage(response, 200, askingPage(share.expires_at));
  }

  /** The page with the player, for the person who pressed the button. */
  async view(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token);
    const facts = share && (await this.contents.read(share));
    if (share === undefined || facts === undefined) return this.refuse(token, request, response);
    // Relative, because a proxy may serve this service below a path.
    const videoAddress = request.path.endsWith('/') ? 'content' : `${encodeURIComponent(token)}/content`;
    sendPage(response, 200, sharedPage({ ...facts, videoAddress, expiresAt: share.expires_at }));
  }

  /** The video, until the link ends. Who plays it is in the action log before it is sent. */
  async play(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token);
    if (share === undefined) return this.refuse(token, request, response);
    try {
      await this.recordings.sendContent(share.recording_id, request, response, {
        headers: PRIVATE,
        beforeShown: () => this.record(share, request),
      });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'notFound') throw error;
      await this.refuse(token, request, response);
    }
  }

  private find(token: string): Promise<OpenShare | undefined> {
    return this.shares.find(Buffer.from(hashKey(token), 'base64url'));
  }

  private async refuse(token: string, request: Request, response: Response): Promise<void> {
    try {
      await this.guesses.count('share', request, token);
      sendPage(response, 404, BROKEN_LINK_PAGE);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'tooManyRequests') throw error;
      response.set(error.headers);
      sendPage(response, 429, BROKEN_LINK_PAGE);
    }
  }

  private record({ id, recording_id: recordingId }: OpenShare, request: Request): Promise<void> {
    return this.actions.requireView({
      actor: 'share',
      action: 'share.viewed',
      resource: `recording:${recordingId}`,
      changes: { share: id, address: request.ip ?? '' },
    });
  }
}

function sendPage(response: Response, status: number, page: string): void {
  response
    .status(status)
    .setHeaders(LONE_PAGE_HEADERS as Map<string, string>)
    .setHeader('Content-Type', 'text/html; charset=utf-8')
    .end(page);
}
