import { Injectable } from '@nestjs/common';
import type { AdminCaller, Person } from '../../core/http/principal.js';
import { AdminTokens } from '../caller.js';
import { OidcClient } from './oidc-client.js';
import { accessOf } from './role-mapping.rules.js';

/** After this time a person signs in again, silently where the provider still knows it: a removed group ends access then. */
export const PERSON_SESSION_MS = 3_600_000;

/** The people who sign in at the identity provider. */
@Injectable()
export class People {
  /** Of the settings that sessions rely on: with others they end. */
  readonly settingsMac: Buffer | undefined;

  constructor(
    tokens: AdminTokens,
    private readonly client: OidcClient,
  ) {
    const { settings } = client;
    if (settings === undefined) return;
    const { issuer, clientId, roleClaim, roles } = settings;
    this.settingsMac = tokens.macOf(JSON.stringify(['oidc', issuer, clientId, roleClaim, roles]));
  }

  /** Undefined if no group of the person has a role. */
  callerOf(person: Person, groups: readonly string[]): AdminCaller | undefined {
    const access = accessOf(groups, this.client.settings?.roles ?? []);
    return access && personCaller(person, access);
  }
}

export const personCaller = (person: Person, access: Pick<AdminCaller, 'role' | 'haulers'>): AdminCaller => ({
  ...access,
  person,
  name: person.name ?? person.email ?? person.subject,
  actor: `person:${person.subject}`,
});
