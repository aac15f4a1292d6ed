import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ActionLog } from '../../auth/action-log.repository.js';
import { hashKey } from '../../auth/api-key.js';
import { GuessLimit } from '../../auth/guess-limit.js';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { AppError } from '../../errors/app-error.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { ShareContents } from './share-contents.service.js';
import { askingPage, BROKEN_LINK_PAGE, SHARED_HEADERS, sharedPage } from './shared-page.js';
import { type OpenShare, SharesRepository } from './shares.repository.js';

/** A counted view can be played for at least this time, and for twice the length of the recording. */
const MIN_VIEW_MS = 3_600_000;

/** Of the page and of its video. */
const PRIVATE = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' };

/** What people see who have a link. Every link that does not work gets the same answer, after the same statement. */
@Injectable()
export class SharedRecordings {
  private readonly key: Buffer;

  constructor(
    @Inject(ENV) { SECRETS_KEY: secret }: Pick<ResolvedEnv, 'SECRETS_KEY'>,
    private readonly shares: SharesRepository,
    private readonly recordings: Recordings,
    private readonly contents: ShareContents,
    private readonly guesses: GuessLimit,
    private readonly actions: ActionLog,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'haulbridge views of shares', 32));
  }

  /** The page that asks. It counts nothing and names nothing, because chats and mail programs preview the links in messages. */
  async open(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token, false);
    if (share === undefined) return this.refuse(token, request, response);
    sendPage(response, 200, askingPage(share.expires_at));
  }

  /** The page with the player, for the person who pressed the button. */
  async view(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token, false);
    const facts = share && (await this.contents.read(share));
    if (share === undefined || facts === undefined) return this.refuse(token, request, response);
    if (!(await this.countView(share, request))) return this.refuse(token, request, response);
    const { startTime, endTime } = facts.recording;
    const lengthMs = Date.parse(endTime) - Date.parse(startTime);
    // Relative, because a proxy may serve this service below a path.
    const path = request.path.endsWith('/') ? 'content' : `${encodeURIComponent(token)}/content`;
    const expires = Math.ceil((Date.now() + Math.max(MIN_VIEW_MS, 2 * lengthMs)) / 1_000);
    const videoAddress = `${path}?expires=${expires}&signature=${this.signature(share, expires)}`;
    sendPage(response, 200, sharedPage({ ...facts, videoAddress, expiresAt: share.expires_at }));
  }

  /** The video of a view that was counted, until the view ends or the link does. */
  async play(token: string, request: Request, response: Response): Promise<void> {
    const share = await this.find(token, true);
    if (share === undefined || !this.isViewed(share, request.query)) return this.refuse(token, request, response);
    try {
      await this.recordings.sendContent(share.recording_id, request, response, { headers: PRIVATE });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'notFound') throw error;
      await this.refuse(token, request, response);
    }
  }

  private find(token: string, isViewed: boolean): Promise<OpenShare | undefined> {
    return this.shares.find(Buffer.from(hashKey(token), 'base64url'), isViewed);
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

  /** A view that is not in the action log is not counted either. False if the link has none left. */
  private countView(share: OpenShare, request: Request): Promise<boolean> {
    const { id, recording_id: recordingId } = share;
    return this.shares.countView(share, (view, transaction) => {
      const changes = { share: id, view, address: request.ip ?? '' };
      const resource = `recording:${recordingId}`;
      return this.actions.require({ actor: 'share', action: 'share.viewed', resource, changes }, transaction);
    });
  }

  private isViewed(share: OpenShare, { expires, signature }: Request['query']): boolean {
    const seconds = typeof expires === 'string' && /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : 0;
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const expected = Buffer.from(this.signature(share, seconds));
    return given.length === expected.length && timingSafeEqual(given, expected) && seconds * 1_000 > Date.now();
  }

  private signature({ id }: OpenShare, expires: number): string {
    return createHmac('sha256', this.key).update(`${id}/${expires}`).digest('base64url');
  }
}

function sendPage(response: Response, status: number, page: string): void {
  response
    .status(status)
    .setHeaders(SHARED_HEADERS as Map<string, string>)
    .setHeader('Content-Type', 'text/html; charset=utf-8')
    .end(page);
}
