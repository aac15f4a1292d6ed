export const OTHER_SECRETS_KEY = 'c3'.repeat(32);
