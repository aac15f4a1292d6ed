import { REDACTED } from '../text/secret-names.js';

/** The address without user name, query and fragment, which may be secret in a signed link. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return REDACTED;
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === '' ? '' : `?${REDACTED}`}`;
}

/** Punctuation that a sentence may put after an address. */
const PUNCTUATION = /(?<![.,;:!?)…])[.,;:!?)…]+$/u;

/** User name and password in an address of another kind, such as that of the database. */
const USER_INFO = /(\b[a-z][a-z\d+.-]{0,30}:\/\/)[^\s/?#"'<>@]{1,500}@/gi;

/**
 * Applies `redactUrl` to every http(s) address in a text that has more than a host and a path. An address needs a letter or
 * digit behind the scheme ("it must begin with https://." has none). Punctuation behind a host or a path stays; behind a
 * query it may be part of the secret.
 */
export function redactUrls(text: string): string {
  if (!text.includes('://')) return text;
  const result = text.replace(/(https?:\/\/)([^\s"'<>\\^`{|}]+)/gi, (found, scheme: string, rest: string) => {
    if (!/[\p{L}\p{N}]/u.test(rest) || !/[?#@]/.test(rest)) return found;
    const address = rest.replace(PUNCTUATION, '');
    if (/[?#]/.test(address)) return redactUrl(found);
    return redactUrl(scheme + address) + rest.slice(address.length);
  });
  return result.replace(USER_INFO, `$1${REDACTED}@`);
}
