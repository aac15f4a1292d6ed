import type { GroupAccess } from './access-rules.js';

/** How people sign in by OpenID Connect. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly roleClaim: string;
  readonly roles: readonly GroupAccess[];
  /** Where the identity provider sends people back to. */
  readonly redirectUri: string;
  readonly consoleUrl: string;
  /** The issuer is called by http. */
  readonly isInsecure: boolean;
}

export interface OidcVariables {
  readonly OIDC_ISSUER: string | undefined;
  readonly OIDC_CLIENT_ID: string | undefined;
  readonly OIDC_CLIENT_SECRET: string | undefined;
  readonly OIDC_ROLE_CLAIM: string;
  readonly OIDC_ROLES: readonly GroupAccess[] | undefined;
  readonly PUBLIC_URL: string | undefined;
}

const NEEDED = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES', 'PUBLIC_URL'] as const;

/** The faults of the variables together. `isAbsent` knows the variables that were not given: an invalid one has a fault already. */
export function oidcFaults(
  variables: OidcVariables,
  isAbsent: (name: string) => boolean,
  allowsHttp: boolean,
): string[] {
  const own = NEEDED.filter((name) => name !== 'PUBLIC_URL');
  if (isAbsent('OIDC_ISSUER')) {
    return own.flatMap((name) => (isAbsent(name) ? [] : [`OIDC_ISSUER is required with ${name}`]));
  }
  const faults = NEEDED.flatMap((name) => (isAbsent(name) ? [`${name} is required with OIDC_ISSUER`] : []));
  const { OIDC_ISSUER: issuer } = variables;
  if (issuer !== undefined && isHttp(issuer) && !isLoopbackUrl(issuer) && !allowsHttp) {
    faults.push('OIDC_ISSUER must begin with https: unless it is a loopback address or OUTBOUND_ALLOW_PRIVATE is on');
  }
  return faults;
}

/** Undefined without an issuer. The variables have no faults. */
export function oidcSettings(variables: OidcVariables): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = variables;
  const { OIDC_ROLES: roles, PUBLIC_URL: publicUrl } = variables;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  if (roles === undefined || publicUrl === undefined) return undefined;
  const base = publicUrl.replace(/\/+$/, '');
  return {
    issuer,
    clientId,
    clientSecret,
    roles,
    roleClaim: variables.OIDC_ROLE_CLAIM,
    redirectUri: `${base}/console/api/oidc/callback`,
    consoleUrl: `${base}/console/`,
    isInsecure: isHttp(issuer),
  };
}

const isHttp = (address: string): boolean => address.startsWith('http:');

const isLoopbackUrl = (address: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(address).hostname);
