/** The first box of an MP4 file is `ftyp`: four bytes of length, then its name. */
export const MP4_HEAD_BYTES = 8;

const looksLikeMp4 = (head: Buffer): boolean => head.toString('latin1', 4, MP4_HEAD_BYTES) === 'ftyp';

/** Told the chunks of a file in order: undefined while too few bytes are known, then whether it begins as an MP4. */
export function mp4Sniffer(): (chunk: Buffer) => boolean | undefined {
  let head = Buffer.alloc(0);
  return (chunk) => {
    if (head.length < MP4_HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, MP4_HEAD_BYTES - head.length)]);
    return head.length < MP4_HEAD_BYTES ? undefined : looksLikeMp4(head);
  };
}
