import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import type { SignInFault } from '../../contracts/admin/people.dto.js';
import { AppError } from '../../errors/app-error.js';
import { ConsoleSessions } from '../console-sessions.js';
import { OidcClient } from './oidc-client.js';
import { faultOf } from './oidc-faults.rules.js';
import { People } from './people.js';
import { consolePathOf, SignInStates } from './sign-in-state.js';

/** The navigations of a sign-in at the identity provider. Each failure leads to the sign-in page, which names it. */
@Injectable()
export class PersonSignIn {
  private readonly logger = new Logger(PersonSignIn.name);
  private readonly states: SignInStates;

  constructor(
    @Inject(ENV) { SECRETS_KEY, CELL }: Pick<ResolvedEnv, 'SECRETS_KEY' | 'CELL'>,
    private readonly client: OidcClient,
    private readonly people: People,
    private readonly sessions: ConsoleSessions,
  ) {
    this.states = new SignInStates(SECRETS_KEY, CELL);
  }

  get isOn(): boolean {
    return this.client.settings !== undefined;
  }

  async begin(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const returnTo = consolePathOf(request.query['return']);
    const isSilent = request.query['silent'] === '1';
    try {
      const { url, ...parts } = await this.client.begin(isSilent);
      this.states.remember({ ...parts, returnTo, isSilent }, request, response);
      response.redirect(url.href);
    } catch (error) {
      this.fail(response, faultOf(error), returnTo, error);
    }
  }

  async finish(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const { state } = request.query;
    const begun = typeof state === 'string' ? this.states.take(state, request, response) : undefined;
    if (begun === undefined) return this.fail(response, 'stale', '/console/');
    const { returnTo } = begun;
    try {
      const query = request.originalUrl.slice(request.originalUrl.indexOf('?'));
      const { person, groups, ...hint } = await this.client.finish(query, begun);
      const caller = this.people.callerOf(person, groups);
      if (caller === undefined) return this.fail(response, 'no-role', returnTo);
      await this.sessions.signIn({ ...caller, ...hint }, request, response);
      response.redirect(this.addressOf(returnTo));
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.fail(response, faultOf(error), returnTo, error);
    }
  }

  /** Ends the session here first, then leads to the page that ends it at the provider. */
  async signOut(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const idToken = await this.sessions.signOut(request, response);
    const url = await this.client.signOutUrl(idToken).catch((error: unknown) => {
      this.logger.warn(
        error,
        'the identity provider does not answer: a sign-out ended the session of the console alone',
      );
      return undefined;
    });
    response.redirect(url?.href ?? this.addressOf('/console/'));
  }

  private requireOn(): void {
    if (!this.isOn) throw new AppError('notFound', 'people cannot sign in: OIDC_ISSUER is not set');
  }

  private fail(response: Response, fault: SignInFault, returnTo: string, error?: unknown): void {
    // A silent sign-in without a session at the provider is no incident.
    if (fault !== 'silent')
      this.logger.warn(`a person could not sign in: ${fault}`, ...(error === undefined ? [] : [error]));
    const query = new URLSearchParams({ fault, return: returnTo });
    response.redirect(this.addressOf(`/console/?${query.toString()}`));
  }

  private addressOf(path: string): string {
    return (this.client.settings?.consoleUrl ?? '/console/') + path.replace(/^\/console\/?/, '');
  }
}
