const NAMES: Readonly<Record<string, string>> = {
  avc1: 'H.264',
  avc3: 'H.264',
  hvc1: 'H.265 (HEVC)',
  hev1: 'H.265 (HEVC)',
  av01: 'AV1',
  vp08: 'VP8',
  vp09: 'VP9',
  mp4v: 'MPEG-4 Visual',
  mjp2: 'Motion JPEG 2000',
  jpeg: 'Motion JPEG',
};

const HEADER_BYTES = 16;
const MAX_BOXES = 30;
const MAX_INDEX_BYTES = 4_000_000;

const asText = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Type and length of an MP4 box, from its first 16 bytes. A length of 0 lasts to the end of the file. */
function boxHeader(bytes: Uint8Array): { readonly type: string; readonly size: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const short = view.getUint32(0);
  const size = short === 1 ? Number(view.getBigUint64(8)) : short;
  return { type: asText(bytes.subarray(4, 8)), size };
}

/** The name of the video codec in the index (`moov`) of an MP4 file; undefined where it has none that is known. */
function codecIn(index: Uint8Array): string | undefined {
  for (let at = 0; at + 20 <= index.length; at++) {
    // 'stsd'
    if (index[at] !== 0x73 || index[at + 1] !== 0x74 || index[at + 2] !== 0x73 || index[at + 3] !== 0x64) continue;
    const name = NAMES[asText(index.subarray(at + 16, at + 20))];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Reads the index of a file by ranges. `read` returns the bytes from one offset to another. */
export async function codecOf(read: (start: number, end: number) => Promise<Uint8Array>): Promise<string | undefined> {
  let offset = 0;
  for (let count = 0; count < MAX_BOXES; count++) {
    const bytes = await read(offset, offset + HEADER_BYTES);
    if (bytes.length < HEADER_BYTES) return undefined;
    const { type, size } = boxHeader(bytes);
    if (type === 'moov')
      return codecIn(await read(offset, offset + Math.min(size || MAX_INDEX_BYTES, MAX_INDEX_BYTES)));
    if (size < 8) return undefined;
    offset += size;
  }
  return undefined;
}
