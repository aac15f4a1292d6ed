/** What people and tokens of the admin API may do, each more than the one before it. */
export const ADMIN_ROLES = ['viewer', 'viewer+video', 'operator', 'admin'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

/** Whether a caller of a role may do what another role allows. */
export const includesRole = (role: AdminRole, needed: AdminRole): boolean =>
  ADMIN_ROLES.indexOf(role) >= ADMIN_ROLES.indexOf(needed);

export const isAdminRole = (role: string): role is AdminRole => ADMIN_ROLES.some((each) => each === role);
