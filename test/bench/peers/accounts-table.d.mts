/** See accounts-table.mjs. */
export const CREATE_TABLE: string;
export function insertOf(account: object): { name: string; text: string; values: unknown[] };
