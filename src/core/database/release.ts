import { serviceVersion } from '../config/version.js';

/** A version of the service, as far as the database of another one matters. */
export interface Release {
  readonly version: string;
  /** The oldest version that can use the schema of this one. */
  readonly oldestCompatibleVersion: string;
}

/**
 * Raised in the commit of a migration that the version before cannot use: a dropped or renamed column, or a new column
 * that needs a value.
 */
const OLDEST_COMPATIBLE_VERSION = '0.3.0';

export const thisRelease = (): Release => ({
  version: serviceVersion(),
  oldestCompatibleVersion: OLDEST_COMPATIBLE_VERSION,
});

/** Compares versions such as `0.10.2`: negative if `a` is older. */
export const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
