import type { IncomingMessage } from 'node:http';

/**
 * The value of a header that was sent exactly once. Node joins some repeated headers and drops others; the raw list
 * hides none (decision 10).
 */
export function soleHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string | undefined {
  let found: string | undefined;
  const wanted = name.toLowerCase();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length !== wanted.length || header.toLowerCase() !== wanted) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1];
  }
  return found;
}
