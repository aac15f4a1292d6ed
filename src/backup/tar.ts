import { ByteReader } from './byte-reader.js';
import { DamagedArchiveError } from './backup-error.js';

const BLOCK = 512;

/** Larger than any entry that a backup has. A reader holds one entry in memory. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

export interface TarEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Two empty blocks end an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** One file of an archive in the format `ustar` of POSIX. */
export const tarEntry = ({ name, content }: TarEntry): Buffer[] => [
  headerOf(name, content.length),
  content,
  Buffer.alloc(paddingOf(content.length)),
];

/**
 * The entries of an archive that `tarEntry` wrote. It accepts no other form: every header has the exact bytes that belong to its name and
 * size, and all padding is zero. The caller compares the contents with their sums, so that no changed byte remains unnoticed.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const input = new ByteReader(source);
  try {
    yield* entriesIn(input);
  } finally {
    await input.close();
  }
}

async function* entriesIn(input: ByteReader): AsyncGenerator<TarEntry> {
  for (;;) {
    const at = input.position;
    const header = await input.take(BLOCK);
    if (isZero(header)) break;
    const [name, size] = [textOf(header, 0, 100), Number.parseInt(textOf(header, 124, 12), 8)];
    const isSize = Number.isSafeInteger(size) && size >= 0 && size <= MAX_ENTRY_BYTES;
    if (!isSize || !headerOf(name, size).equals(header)) throw new DamagedArchiveError(`at byte ${at}`);
    const content = await input.take(size);
    if (!isZero(await input.take(paddingOf(size)))) throw new DamagedArchiveError(`in the padding of ${name}`);
    yield { name, content };
  }
  if (!isZero(await input.take(BLOCK)) || !(await input.isAtEnd())) throw new DamagedArchiveError('after its end');
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100);
  // Mode 0600, no owner, no time.
  for (const [at, text] of [
    [100, '0000600'],
    [108, '0000000'],
    [116, '0000000'],
    [124, size.toString(8).padStart(11, '0')],
    [136, '00000000000'],
    [148, '        '],
    [156, '0'],
    [257, 'ustar'],
    [263, '00'],
  ] as const)
    header.write(text, at, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

/** Up to the first zero byte. */
function textOf(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}
