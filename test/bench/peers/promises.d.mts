/** See promises.mjs. */
export const CREATE_PROMISE_TABLES: string;
