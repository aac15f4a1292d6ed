/** See upsert.mjs. */
export const CREATE_TABLE: string;
export function upsertOf(id: string, ticket: object): { name: string; text: string; values: unknown[] };
