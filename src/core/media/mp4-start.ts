/** Types of boxes that a file has at its top level (ISO/IEC 14496-12, QuickTime). */
export const TOP_LEVEL_TYPES: ReadonlySet<string> = new Set(
  'ftyp styp moov mdat moof mfra free skip wide uuid meta sidx ssix prft pdin emsg udta pnot'.split(' '),
);

/** Length and type of a box. A length of 1 means that the length follows in 64 bits, and 0 that the box ends with the file. */
export const MP4_HEAD_BYTES = 8;

/** A header, a major brand and its version. */
const MIN_FTYP_BYTES = 16;

/** Whether the first bytes of a file (at least `MP4_HEAD_BYTES`) are the head of a box of an MP4, not always `ftyp` (decision 65). */
export function beginsAsMp4(head: Buffer): boolean {
  if (head.length < MP4_HEAD_BYTES) return false;
  const [size, type] = [head.readUInt32BE(0), head.toString('latin1', 4, MP4_HEAD_BYTES)];
  const minSize = type === 'ftyp' ? MIN_FTYP_BYTES : MP4_HEAD_BYTES;
  return TOP_LEVEL_TYPES.has(type) && (size <= 1 || size >= minSize);
}
