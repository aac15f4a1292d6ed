import { continuesFile, contentRange, hasVisibleEnd, isUncompressed } from '../../core/media/file-headers.js';
import { InvalidMp4Error, Mp4BoxValidator } from '../../core/media/mp4-box-validator.js';
import { beginsAsMp4 } from '../../core/media/mp4-start.js';
import { hasStatus, shown } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, passed, passedIf, passedUnless, type Rule } from '../rule.js';

/** Rules of the files behind download links. The platform judges them by the same functions. */

type Check = Rule['check'];

const PART_BYTES = 100;

/** The request of the first bytes. */
export const PART = `bytes=0-${PART_BYTES - 1}`;

const bytesOf = ({ answer }: Exchange): Buffer => answer?.body ?? Buffer.alloc(0);

const headersOf = ({ answer }: Exchange): Readonly<Record<string, string>> => answer?.headers ?? {};

const worksAlone: Check = (exchange) =>
  [401, 403].includes(exchange.status)
    ? failed(`the status is ${exchange.status}, expected 200: the link must work without a key`)
    : hasStatus(200)(exchange);

const isMp4: Check = (exchange) =>
  passedIf(beginsAsMp4(bytesOf(exchange)), `the file does not begin as an MP4${typeOf(exchange)}`);

const typeOf = (exchange: Exchange): string => {
  const type = exchange.header('content-type');
  return type === undefined ? '' : `; Content-Type is ${shown(type)}`;
};

/** The boxes of the whole file (decision 65). */
const isWholeMp4: Check = (exchange) => {
  const boxes = new Mp4BoxValidator();
  try {
    boxes.update(bytesOf(exchange));
    boxes.end();
    return passed;
  } catch (error) {
    if (error instanceof InvalidMp4Error) return failed(`the file is no whole MP4: ${error.message}`);
    throw error;
  }
};

const isComplete: Check = (exchange) => {
  const announced = exchange.header('content-length') ?? 'unknown';
  const { cut } = exchange.answer ?? {};
  return passedUnless(cut && `${cut}; Content-Length is ${announced}`);
};

const hasPlainEnd: Check = (exchange) => {
  const headers = headersOf(exchange);
  if (!isUncompressed(headers)) return failed(`Content-Encoding is ${shown(headers['content-encoding'])}`);
  return passedIf(hasVisibleEnd(headers), 'there is neither Content-Length nor Transfer-Encoding: chunked');
};

const has =
  (name: string): Check =>
  (exchange) =>
    passedIf(exchange.header(name) !== undefined, `${name} is absent`);

const isPart: Check = async (exchange, run) => {
  if (exchange.status !== 206) return failed(`the status is ${exchange.status}, expected 206`);
  const part = bytesOf(exchange);
  const expected = bytesOf(await run.exchange('download')).subarray(0, PART_BYTES);
  if (part.length !== expected.length) return failed(`the part has ${part.length} bytes, expected ${expected.length}`);
  if (!part.equals(expected)) return failed('the part has other bytes than the file');
  const range = exchange.header('content-range');
  return passedIf(contentRange(range)?.start === 0, `Content-Range is ${shown(range)}, expected bytes 0-…`);
};

/** A server without `Range` sends the whole file again, which loses time and no footage. */
const continues: Check = async (exchange, run) => {
  const whole = bytesOf(await run.exchange('download'));
  const { status, failure, answer } = exchange;
  const body = bytesOf(exchange);
  if (failure !== undefined || answer?.cut !== undefined) return failed(failure ?? answer?.cut ?? '');
  if (status === 200) return passedIf(body.equals(whole), 'the whole file was sent again, with other bytes');
  if (status !== 206) return failed(`the status is ${status}, expected 206 with the rest, or 200 with the whole file`);
  const from = resumedFrom(whole.length);
  const headers = headersOf(exchange);
  // Without a validator: the ETag is the matter of another rule.
  if (!continuesFile({ validator: '', total: whole.length }, from, headers)) {
    const expected = `bytes ${from}-${whole.length - 1}/${whole.length}`;
    return failed(`Content-Range is ${shown(headers['content-range'])}, expected ${expected}`);
  }
  return passedIf(body.equals(whole.subarray(from)), 'the rest has other bytes than the file');
};

/** Half of a file is requested again, at most this much. */
const MAX_RESUMED_BYTES = 8 * 1024 * 1024;

export const resumedFrom = (size: number): number => Math.max(Math.floor(size / 2), size - MAX_RESUMED_BYTES);

const keepsEtag: Check = async (exchange, run) => {
  const [before, after] = [(await run.exchange('download')).header('etag'), exchange.header('etag')];
  if (before === undefined || after === undefined) return notApplicable('a response has no ETag');
  return passedIf(before === after, `ETag is ${shown(after)}, it was ${shown(before)}`);
};

/** What the rules of the file of a recording, and of that of a clip, have in common. */
const FILE = { operation: 'listContinuous', on: 'download', section: '8', severity: 'must' } as const;
const CLIP_FILE = { operation: 'listVideos', on: 'clipDownload', section: '1', severity: 'must' } as const;

export const FILE_RULES: readonly Rule[] = [
  {
    id: 'VISION-160',
    ...FILE,
    section: '2.6',
    title: 'the link of a recording answers a GET without a key with 200',
    remedy: 'Let downloadUrl work by itself, without an API key and without a redirect to a login.',
    check: worksAlone,
  },
  {
    id: 'VISION-167',
    ...FILE,
    title: 'a file has as many bytes as its Content-Length',
    remedy: 'Send the size of the file as Content-Length, then the whole file.',
    check: isComplete,
  },
  {
    id: 'VISION-169',
    ...FILE,
    title: 'a file is sent without compression, and announces its end',
    remedy:
      'Send Content-Length, or Transfer-Encoding: chunked, and no Content-Encoding: otherwise a cut file cannot be recognised, or resumed.',
    check: hasPlainEnd,
  },
  {
    id: 'VISION-161',
    ...FILE,
    section: '2.6',
    title: 'the link of a recording leads to an MP4 file',
    remedy: 'Send the bytes of the MP4 file.',
    check: isMp4,
  },
  {
    id: 'VISION-168',
    ...FILE,
    section: '2.6',
    needs: ['VISION-161', 'VISION-167'],
    title: 'the file of a recording is a whole MP4',
    remedy:
      'List a recording when its file is complete: every box (moov and mdat are required) ends with the file or before.',
    check: isWholeMp4,
  },
  {
    id: 'VISION-162',
    ...FILE,
    severity: 'should',
    needs: ['VISION-169'],
    title: 'a download has a Content-Length',
    remedy: 'Send Content-Length, so that a cut file is noticed.',
    check: has('content-length'),
  },
  {
    id: 'VISION-163',
    ...FILE,
    severity: 'should',
    title: 'a download has an ETag',
    remedy: 'Send ETag, so that an interrupted download can be resumed.',
    check: has('etag'),
  },
  {
    id: 'VISION-164',
    ...FILE,
    on: 'downloadPart',
    severity: 'should',
    needs: ['VISION-168'],
    title: 'a download with Range is answered with 206 and that part',
    remedy: 'Support Range, so that an interrupted download can be resumed.',
    check: isPart,
  },
  {
    id: 'VISION-165',
    ...FILE,
    on: 'resumed',
    needs: ['VISION-168'],
    title: 'a download that is resumed with Range brings the rest of the same file, or the whole file again',
    remedy: 'Answer Range with 206, Content-Range and exactly these bytes, or ignore it and answer 200.',
    check: continues,
  },
  {
    id: 'VISION-166',
    ...FILE,
    on: 'resumed',
    severity: 'should',
    title: 'the ETag of a file stays the same',
    remedy: 'Derive ETag from the file, not from the request.',
    check: keepsEtag,
  },
];

export const CLIP_FILE_RULES: readonly Rule[] = [
  {
    id: 'VISION-360',
    ...CLIP_FILE,
    title: 'the link of a clip answers a GET without a key with 200',
    remedy: 'Let downloadUrl work by itself, without an API key.',
    check: worksAlone,
  },
  {
    id: 'VISION-361',
    ...CLIP_FILE,
    title: 'the link of a clip leads to an MP4 file',
    remedy: 'Send the bytes of the MP4 file.',
    check: isMp4,
  },
  {
    id: 'VISION-362',
    ...CLIP_FILE,
    needs: ['VISION-361'],
    title: 'the file of a clip is a whole MP4',
    remedy: 'List a clip when its file is complete.',
    check: async (exchange, run) => {
      const complete = await isComplete(exchange, run);
      return complete.outcome === 'passed' ? isWholeMp4(exchange, run) : complete;
    },
  },
];
