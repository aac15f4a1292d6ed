import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CustomFetch } from 'openid-client';
import { MAX_HEAD_BYTES } from '../../contracts/common/answer-limits.js';
import { BrokenAnswerError, NoAnswerError } from './oidc-faults.rules.js';

const MAX_BYTES = 1_048_576;

/**
 * `fetch` for one answer of at most `MAX_BYTES`, whose head may be large (decision 64): the `fetch` of Node.js has no such setting.
 * The address is the operator's own setting, so it may be private. Redirects are not followed. Throws `NoAnswerError` if no
 * answer began or its time is over, and `BrokenAnswerError` if it cannot be read to its end.
 */
export const fetchBounded: CustomFetch = async (url, { method, headers, body, signal }) => {
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = start(url, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    signal,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
  // An error after the head also reaches the reader of the body.
  request.on('error', () => undefined);
  request.end(Buffer.from(await new Response(body ?? null).arrayBuffer()));
  const [response] = (await once(request, 'response').catch((error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('HPE_') === true) throw new BrokenAnswerError('its answer is no HTTP', { cause: error });
    throw new NoAnswerError('the identity provider does not answer', { cause: error });
  })) as [IncomingMessage];
  const bytes = await readBody(response).catch((error: unknown) => {
    if (signal?.aborted === true) throw new NoAnswerError('the identity provider is too slow', { cause: error });
    throw error instanceof BrokenAnswerError ? error : new BrokenAnswerError('its answer broke off', { cause: error });
  });
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  const received = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers: received });
};

async function readBody(response: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new BrokenAnswerError(`its answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
