const REDACTED = '[redacted]';

/** The address without user name, query and fragment, which may be secret in a signed link. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return REDACTED;
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === '' ? '' : `?${REDACTED}`}`;
}

/** Punctuation that a sentence may put after an address. */
const PUNCTUATION = /(?<![.,;:!?)…])[.,;:!?)…]+$/u;

/**
 * Applies `redactUrl` to every http(s) address in a text. An address needs a letter or digit behind the scheme ("it must
 * begin with https://." has none). Punctuation behind a host or a path stays; behind a query it may be part of the secret.
 */
export function redactUrls(text: string): string {
  return text.replace(/(https?:\/\/)([^\s"'<>\\^`{|}]+)/gi, (found, scheme: string, rest: string) => {
    if (!/[\p{L}\p{N}]/u.test(rest)) return found;
    const address = rest.replace(PUNCTUATION, '');
    if (/[?#]/.test(address)) return redactUrl(found);
    return redactUrl(scheme + address) + rest.slice(address.length);
  });
}

/**
 * Replaces the secrets in a text: in plain, percent-encoded in upper or lower case, as a JSON string, and in base64 as in
 * basic authentication. Empty secrets are ignored.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  return secretForms(secrets).reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

/** The texts that `redactSecrets` replaces, the longest first, because one may contain another. */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    const base64 = Buffer.from(secret).toString('base64');
    for (const text of [secret, base64, base64.replace(/=+$/, '')]) {
      const encoded = encodeURIComponent(text);
      for (const form of [text, encoded, encoded.replace(/%../g, (octet) => octet.toLowerCase())]) forms.add(form);
    }
    forms.add(JSON.stringify(secret).slice(1, -1));
  }
  return [...forms].sort((a, b) => b.length - a.length);
}
