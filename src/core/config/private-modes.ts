/** Modes of what the service writes: only its own user may read it. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
