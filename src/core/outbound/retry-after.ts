const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
/** The three forms of an HTTP date (RFC 9110, 5.6.7). */
const HTTP_DATES = [
  new RegExp(`^[A-Z][a-z]{2}, \\d{2} (?:${MONTHS}) \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, \\d{2}-(?:${MONTHS})-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?:${MONTHS}) [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4}$`),
];

/**
 * The instant of a `Retry-After` header: seconds, with or without a fraction, or an HTTP date (decision 36), not before
 * `now`. Any other text is undefined.
 */
export function retryAfterDate(header: string | undefined, now: Date): Date | undefined {
  const text = header?.trim();
  if (text === undefined) return undefined;
  if (SECONDS.test(text)) return new Date(now.getTime() + Math.ceil(Number(text) * 1000));
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined;
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : new Date(Math.max(date, now.getTime()));
}
