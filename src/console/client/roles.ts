import type { AdminRole } from '../../contracts/common/roles.js';

/** The console takes only types from the contracts, so it has the order of the roles itself. */
const RANK: Readonly<Record<AdminRole, number>> = { viewer: 0, 'viewer+video': 1, operator: 2, admin: 3 };

/** Whether a person or token of a role may do what another role allows. */
export const includesRole = (role: AdminRole, needed: AdminRole): boolean => RANK[role] >= RANK[needed];
