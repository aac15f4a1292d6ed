import type { IncomingMessage } from 'node:http';
import { contentLength } from './answer-rules.js';
import type { Chunk } from './body-tap.js';
import { connectionFailure } from './download-failure.js';
import type { DownloadLimits } from './limits.js';
import type { LinkAnswer } from './link-request.js';
import { keepPace, type Pace } from './pace.js';

const keep = (): void => undefined;

/** Through the HTTP parser: what is chunked, or here already. */
async function* parsed(response: IncomingMessage, pace: Pace): AsyncGenerator<Chunk> {
  pace.wait();
  for await (const bytes of response as AsyncIterable<Buffer>) {
    pace.heard(bytes.length);
    pace.rest();
    yield { bytes, release: keep };
    pace.wait();
  }
}

const readNow = (response: IncomingMessage): Buffer | null => response.read() as Buffer | null;

/** Straight from the connection, after what the parser has seen already. */
async function* tapped({ response, tap }: LinkAnswer, length: number, pace: Pace): AsyncGenerator<Chunk> {
  const first: Buffer[] = [];
  for (let bytes = readNow(response); bytes !== null; bytes = readNow(response)) first.push(bytes);
  tap.startBody(response, length, Buffer.concat(first), pace);
  yield* tap.chunks(response);
}

/** The body of an answer; `DownloadFailed` where it breaks off or does not come in time. */
export async function* bodyOf(answer: LinkAnswer, limits: DownloadLimits): AsyncGenerator<Chunk> {
  const { host, response } = answer;
  const pace = keepPace(host, limits, (failure) => response.destroy(failure));
  const length = contentLength(response.headers);
  try {
    const whole = length === undefined || response.complete || !answer.tap.isFed;
    yield* whole ? parsed(response, pace) : tapped(answer, length, pace);
  } catch (error) {
    throw connectionFailure(host, error);
  } finally {
    pace.stop();
    response.destroy();
  }
}
