import { parse } from 'content-type';

/** A media type in lower case, with its parameters. A header that is absent or no media type has another type than any. */
export function mediaTypeOf(contentType: string | undefined): { readonly type: string; readonly charset?: string } {
  const { type, parameters } = parse(contentType ?? '');
  const { charset } = parameters;
  return charset === undefined ? { type } : { type, charset: charset.toLowerCase() };
}

/** RFC 9110, section 12.4.2. */
const WEIGHT = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/**
 * The media types of `Accept` with their weights alone. Express would compare the other parameters too, but a form of an answer has one
 * character set and always its head: it is the same answer with `charset`, with `header` or without.
 */
export function acceptedTypes(accept: string): string {
  const ranges: string[] = [];
  for (let start = 0; start < accept.length;) {
    const { type, parameters, index } = parse(accept, { comma: true, start });
    const { q = '' } = parameters;
    if (type !== '') ranges.push(WEIGHT.test(q) ? `${type};q=${q}` : type);
    start = index + 1;
  }
  return ranges.join(', ');
}
