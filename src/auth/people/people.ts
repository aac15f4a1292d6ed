import { Injectable } from '@nestjs/common';
import type { AdminCaller, Person } from '../../core/http/principal.js';
import { AdminTokens } from '../caller.js';
import { OidcClient } from './oidc-client.js';
import type { Access, GroupAccess } from '../../core/config/access-rules.js';
import { ADMIN_ROLES } from '../../contracts/common/roles.values.js';

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

/**
 * What the groups of a person allow; undefined without a group that has a role. The highest role counts. The haulers of the
 * groups with that role add up, and one of them without haulers opens all.
 */
function accessOf(groups: readonly string[], roles: readonly GroupAccess[]): Access | undefined {
  const own = roles.filter(({ group }) => groups.includes(group));
  const role = ADMIN_ROLES.findLast((each) => own.some((one) => one.role === each));
  if (role === undefined) return undefined;
  const granted = own.filter((one) => one.role === role);
  if (granted.some(({ haulers }) => haulers === undefined)) return { role };
  return { role, haulers: [...new Set(granted.flatMap(({ haulers = [] }) => haulers))] };
}
