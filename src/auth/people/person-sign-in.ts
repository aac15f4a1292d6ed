import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import type { AdminSession } from '../../contracts/admin/sessions.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { listPage } from '../../core/database/list-page.js';
import { apiError, AppError } from '../../core/errors/app-error.js';
import { deleteSessionById, type ListedSession, openSessions } from '../console-session.repository.js';
import { ConsoleSessions } from '../console-sessions.js';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { OidcClient } from './oidc-client.js';
import { failureOf, reasonOf, type SignInFailure } from './oidc-faults.rules.js';
import { People } from './people.js';
import { consolePathOf, SignInStates } from './sign-in-state.js';

/** The sessions of the console, for admins. */
@Injectable()
export class SessionList {
  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessions,
  ) {}

  /** Newest first. */
  async list(query: ListQuery, request: Request): Promise<List<AdminSession>> {
    const { rows, pagination } = await listPage<ListedSession>(this.database, openSessions(), query);
    const own = this.sessions.hashIn(request);
    return {
      data: rows.map((row) => ({
        ...this.ownerOf(row),
        id: row.id,
        createdAt: formatInstant(row.createdAt),
        expiresAt: formatInstant(row.expiresAt),
        isCurrent: own?.equals(row.cookieHash) === true,
      })),
      pagination,
    };
  }

  async end(id: string): Promise<void> {
    if (!(await deleteSessionById(this.database, id)))
      throw apiError(ADMIN_API, 'notFound', `there is no session ${id}`);
  }

  private ownerOf(row: ListedSession): Pick<AdminSession, 'kind' | 'name' | 'email' | 'role' | 'haulers'> {
    if (row.keyPrefix !== null) return { kind: 'partner', name: row.keyPrefix };
    const caller = this.sessions.callerOf(row);
    if (caller === undefined) return { kind: row.person === null ? 'token' : 'person', name: 'no longer valid' };
    const { name, role, haulers, person } = caller;
    return {
      kind: person === undefined ? 'token' : 'person',
      name,
      role,
      ...(person?.email === undefined ? {} : { email: person.email }),
      ...(haulers === undefined ? {} : { haulers: [...haulers] }),
    };
  }
}

/** The navigations of a sign-in at the identity provider. Each failure leads to the sign-in page, which names it. */
@Injectable()
export class PersonSignIn {
  private readonly logger = new Logger(PersonSignIn.name);
  private readonly states: SignInStates;

  constructor(
    @Inject(ENV) { SECRETS_KEY }: Pick<ResolvedEnv, 'SECRETS_KEY'>,
    private readonly client: OidcClient,
    private readonly people: People,
    private readonly sessions: ConsoleSessions,
  ) {
    this.states = new SignInStates(SECRETS_KEY);
  }

  get isOn(): boolean {
    return this.client.settings !== undefined;
  }

  async begin(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const own = this.ownAddressOf(request);
    if (own !== undefined) return response.redirect(own);
    const returnTo = consolePathOf(request.query['return']);
    const isSilent = request.query['silent'] === '1';
    const begun = await this.client.begin(isSilent).catch((error: unknown) => this.failed(response, returnTo, error));
    if (begun === undefined) return;
    const { url, ...parts } = begun;
    this.states.remember({ ...parts, returnTo, isSilent }, request, response);
    response.redirect(url.href);
  }

  async finish(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const { state } = request.query;
    const begun = typeof state === 'string' ? this.states.take(state, request, response) : undefined;
    if (begun === undefined) return this.fail(response, { fault: 'stale' }, '/console/');
    const { returnTo } = begun;
    const query = request.originalUrl.slice(request.originalUrl.indexOf('?'));
    const found = await this.client
      .finish(query, begun)
      .catch((error: unknown) => this.failed(response, returnTo, error));
    if (found === undefined) return;
    const { person, groups, ...hint } = found;
    const caller = this.people.callerOf(person, groups);
    if (caller === undefined) return this.fail(response, { fault: 'no-role' }, returnTo, noRole(groups));
    await this.sessions.signIn({ ...caller, ...hint }, request, response);
    response.redirect(this.addressOf(returnTo));
  }

  /** Ends the session here first, then leads to the page that ends it at the provider. */
  async signOut(request: Request, response: Response): Promise<void> {
    this.requireOn();
    const idToken = await this.sessions.signOut(request, response);
    const url = await this.client.signOutUrl(idToken).catch((error: unknown) => {
      this.logger.warn(
        { reason: reasonOf(error) },
        'a sign-out ended the session of the console, and not that of the identity provider',
      );
      return undefined;
    });
    response.redirect(url?.href ?? this.addressOf('/console/'));
  }

  private requireOn(): void {
    if (!this.isOn) throw new AppError('notFound', 'people cannot sign in: OIDC_ISSUER is not set');
  }

  /** Leads to the sign-in page. An error that is none of the provider is thrown again. */
  private failed(response: Response, returnTo: string, error: unknown): undefined {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    this.fail(response, failure, returnTo, reasonOf(error));
  }

  private fail(response: Response, { fault, algorithm }: SignInFailure, returnTo: string, reason?: string): void {
    const named = algorithm === undefined ? fault : `the ID token is signed ${algorithm}, and needs an asymmetric key`;
    // A silent sign-in without a session at the provider is no incident.
    if (fault !== 'silent') this.logger.warn({ reason }, `a person could not sign in: ${named}`);
    const query = new URLSearchParams({ fault, ...(algorithm === undefined ? {} : { algorithm }), return: returnTo });
    response.redirect(this.addressOf(`/console/?${query.toString()}`));
  }

  /**
   * The same sign-in at the host of PUBLIC_URL, to which the provider sends people back: a cookie of another host would not arrive
   * there. Once only, since a proxy may hide which host was asked.
   */
  private ownAddressOf({ host, query, originalUrl }: Request): string | undefined {
    const { consoleUrl } = this.client.settings ?? {};
    if (consoleUrl === undefined || query['moved'] === '1' || new URL(consoleUrl).host === host) return undefined;
    const search = new URLSearchParams(originalUrl.split('?')[1]);
    search.set('moved', '1');
    return `${consoleUrl}api/oidc/sign-in?${search.toString()}`;
  }

  private addressOf(path: string): string {
    return (this.client.settings?.consoleUrl ?? '/console/') + path.replace(/^\/console\/?/, '');
  }
}

const noRole = ({ length }: readonly string[]): string =>
  length === 0 ? 'the claim of OIDC_ROLE_CLAIM is absent or empty' : 'OIDC_ROLES has none of the groups';
