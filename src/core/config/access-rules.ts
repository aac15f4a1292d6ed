import { type AdminRole, ADMIN_ROLES, isAdminRole } from '../../contracts/common/roles.values.js';
import { isUuid } from '../../contracts/common/text.js';
import { EnvError, type Parse, secret } from './parse.js';

/** A role, and the haulers that it is limited to; absent: all. */
export interface Access {
  readonly role: AdminRole;
  readonly haulers?: readonly string[];
}

/** A token of the admin API for a machine. */
export interface NamedToken extends Access {
  readonly name: string;
  readonly token: string;
}

/** What a group of the identity provider opens. */
export interface GroupAccess extends Access {
  readonly group: string;
}

const ROLES = ADMIN_ROLES.join(', ');
const NAME = /^[\w.-]{1,64}$/;

/** `operator` or `operator@<hauler id>+<hauler id>`. `what` names the entry in an error. */
function accessOf(text: string, what: string): Access {
  const [role = '', haulers, ...more] = text.split('@').map((part) => part.trim());
  if (!isAdminRole(role)) throw new EnvError(`has an unknown role in ${what}: it must be one of ${ROLES}`);
  if (haulers === undefined) return { role };
  return { role, haulers: haulersOf([haulers, ...more].join('@'), what) };
}

function haulersOf(text: string, what: string): string[] {
  const haulers = text.split('+').map((id) => id.trim().toLowerCase());
  if (haulers.every(isUuid)) return haulers;
  throw new EnvError(`must name haulers in ${what} by their ids, separated by +`);
}

/** `name:token:role,…`. An error never contains a token. */
export const namedTokens: Parse<readonly NamedToken[]> = (text) =>
  entriesOf(text, (entry, what): NamedToken => {
    const [, name = '', token = '', access = ''] = /^([^:]*):(.*):([^:]*)$/s.exec(entry) ?? [];
    if (!NAME.test(name)) {
      throw new EnvError(`must have name:token:role in ${what}; a name has letters, digits, - _ and . only`);
    }
    try {
      secret(token);
    } catch (error) {
      throw new EnvError(`has in ${what} a token that ${(error as Error).message}`);
    }
    return { name, token, ...accessOf(access, what) };
  });

/** `role=group,…`, each group with `@<hauler id>+<hauler id>` where it is limited to haulers. */
export const groupRoles: Parse<readonly GroupAccess[]> = (text) =>
  entriesOf(text, (entry, what): GroupAccess => {
    const [, role = '', group = '', haulers = ''] = /^([^=]*)=([^@]*)(@.*)?$/s.exec(entry) ?? [];
    if (group.trim() === '') throw new EnvError(`must have role=group in ${what}`);
    return { group: group.trim(), ...accessOf(role + haulers, what) };
  });

/** The entries of a list that is separated by commas. Throws one error with all faults. */
function entriesOf<T>(text: string, read: (entry: string, what: string) => T): T[] {
  const faults: string[] = [];
  const entries = text.split(',').flatMap((entry, i) => {
    try {
      return [read(entry.trim(), `entry ${i + 1}`)];
    } catch (error) {
      if (!(error instanceof EnvError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  if (faults.length > 0) throw new EnvError(faults.join('; and '));
  return entries;
}

/** Two callers with one token, or with one name in the action log, could not be distinguished. */
export function tokenFaults({
  ADMIN_TOKEN,
  ADMIN_READ_TOKEN,
  ADMIN_TOKENS = [],
}: {
  readonly ADMIN_TOKEN: string | undefined;
  readonly ADMIN_READ_TOKEN: string | undefined;
  readonly ADMIN_TOKENS: readonly NamedToken[] | undefined;
}): string[] {
  const names = ADMIN_TOKENS.map(({ name }) => name);
  const tokens = [ADMIN_TOKEN, ADMIN_READ_TOKEN, ...ADMIN_TOKENS.map(({ token }) => token)].flatMap(
    (each) => each ?? [],
  );
  return [
    ...(new Set(names).size < names.length ? ['ADMIN_TOKENS must not have a name twice'] : []),
    // ADMIN_READ_TOKEN could always equal ADMIN_TOKEN, which then has all rights.
    ...(ADMIN_TOKENS.length > 0 && new Set(tokens).size < tokens.length
      ? ['ADMIN_TOKENS must not have a token twice, nor that of ADMIN_TOKEN or ADMIN_READ_TOKEN']
      : []),
  ];
}
