import type { Access, GroupAccess } from '../../core/config/access-rules.js';
import { ownField } from '../../contracts/common/json.js';
import { ADMIN_ROLES } from '../../contracts/common/roles.values.js';

/**
 * What the groups of a person allow; undefined without a group that has a role. The highest role counts. The haulers of the
 * groups with that role add up, and one of them without haulers opens all.
 */
export function accessOf(groups: readonly string[], roles: readonly GroupAccess[]): Access | undefined {
  const own = roles.filter(({ group }) => groups.includes(group));
  const role = ADMIN_ROLES.findLast((each) => own.some((one) => one.role === each));
  if (role === undefined) return undefined;
  const granted = own.filter((one) => one.role === role);
  if (granted.some(({ haulers }) => haulers === undefined)) return { role };
  return { role, haulers: [...new Set(granted.flatMap(({ haulers = [] }) => haulers))] };
}

/**
 * The groups in a claim: a list of texts, or one text. The claim may be within objects, as `realm_access.roles` of Keycloak is.
 * Undefined if the claim is absent.
 */
export function groupsIn(claims: unknown, claim: string): string[] | undefined {
  const value = ownField(claims, claim) ?? claim.split('.').reduce<unknown>(ownField, claims);
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
}
