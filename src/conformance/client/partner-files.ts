import { createHash } from 'node:crypto';
import { type Call, type PeerAnswer, type Received, refusal, soleHeader } from './call.js';

/** The path of a link: the recording, and the number of the link. */
const LINK = /^\/kit-files\/([\w-]+)\.(\d+)\.mp4$/;
const CLIP_BYTES = 262_144;
const CHUNK_BYTES = 400;

export const linkPath = (id: string, number: number): string => `/kit-files/${id}.${number}.mp4`;

export function linkOf(path: string): { readonly id: string; readonly number: number } | undefined {
  const [, id, number] = LINK.exec(path) ?? [];
  return id === undefined ? undefined : { id, number: Number(number) };
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** An MP4 file without tracks. The content follows from the id. */
function fileOf(id: string): Buffer {
  const start = [box('ftyp', Buffer.from('isom\0\0\x02\0isommp41', 'latin1')), box('moov', Buffer.alloc(0))];
  const size = id.startsWith('clip') ? CLIP_BYTES : CHUNK_BYTES;
  return Buffer.concat([...start, box('mdat', Buffer.alloc(size, createHash('sha256').update(id).digest()))]);
}

export interface FileFaults {
  /** This link has expired. */
  readonly isRefused: boolean;
  /** The first answer ends in the middle of the file. */
  readonly isCut: boolean;
}

/** The file of a link, with `Range`, `If-Range` and `ETag`. */
export function fileAnswer(call: Received, id: string, earlier: readonly Call[], faults: FileFaults): PeerAnswer {
  if (faults.isRefused) return refusal(410, 'NOT_FOUND', 'the link has expired', { scenario: 'link-expired' });
  const file = fileOf(id);
  const etag = `"${createHash('sha256').update(id).digest('hex').slice(0, 16)}"`;
  const headers = { 'Content-Type': 'video/mp4', ETag: etag, 'Accept-Ranges': 'bytes' };
  const isFirst = !earlier.some(({ path }) => linkOf(path)?.id === id);
  if (faults.isCut && isFirst) {
    return { status: 200, headers, body: file, cutAfter: file.length / 2, scenario: 'cut-file' };
  }
  const from = Number(/^bytes=(\d+)-$/.exec(soleHeader(call, 'Range') ?? '')?.[1] ?? 0);
  const condition = soleHeader(call, 'If-Range');
  if (from === 0 || from >= file.length || (condition !== undefined && condition !== etag))
    return { status: 200, headers, body: file };
  const range = { 'Content-Range': `bytes ${from}-${file.length - 1}/${file.length}` };
  return { status: 206, headers: { ...headers, ...range }, body: file.subarray(from) };
}
