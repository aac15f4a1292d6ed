/** What stands in the place of a secret. */
const REDACTED = '[redacted]';

/** An address without its user name, query and fragment: a signed link is a secret, its host and path are not. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return REDACTED;
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === '' ? '' : `?${REDACTED}`}`;
}

/** What a sentence may put after an address. */
const PUNCTUATION = /(?<![.,;:!?)…])[.,;:!?)…]+$/u;

/**
 * Every http(s) address within a text is redacted as `redactUrl` does. What has no letter or digit behind the scheme is
 * words about addresses ("it must begin with https://."). Punctuation behind a host or a path stays; in a query it may be
 * part of the secret, and goes with it.
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
 * Replaces the given secrets wherever they stand in a text: as they are, percent-encoded in capitals or in small letters,
 * within JSON, in base64 as basic authentication would carry them. Empty secrets are ignored.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  return secretForms(secrets).reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

/** What `redactSecrets` looks for, the longest first: a form that contains another one must go as a whole. */
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
