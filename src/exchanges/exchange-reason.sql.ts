/** Exchanges that were refused, failed or have no response. The indexes have this condition and the expression below. */
export const IS_FAILED = '(status >= 400 OR status = 0 OR failure IS NOT NULL)';

/** Why: the codes of what the service decided, the code of the answer, why there is no usable answer, or the status alone. */
export const REASON = `(CASE
  WHEN status >= 400 THEN coalesce(substring(result from '^\\d{3} (.+)$'), error_code, failure, 'http-' || status::text)
  ELSE coalesce(failure, 'no-response') END)`;

/** The column of a list; null of an exchange that succeeded. */
export const REASON_COLUMN = `CASE WHEN ${IS_FAILED} THEN ${REASON} END AS reason`;
