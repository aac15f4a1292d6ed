import { request } from 'node:http';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

/** What `fetch` cannot send: headers exactly as given, as name and value by turns, repeated ones included. */
export function rawRequest(
  url: string,
  method: string,
  headers: readonly string[],
  body?: string | Uint8Array,
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
    const call = request(
      url,
      { method, headers: ['Host', host, 'Connection', 'close', ...length, ...headers] },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('error', reject);
        response.once('end', () => {
          const bytes = Buffer.concat(parts);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() });
        });
      },
    );
    call.once('error', reject);
    call.end(body);
  });
}
