import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { AdminCall, AdminClient } from './admin-client.js';
import { CommandError, FAILURE, USAGE } from './command-error.js';
import type { Streams } from './output.js';

export const BUNDLE_FILE = ['--to <file>', 'file for the archive; it must not exist'] as const;

/** Stores the bundle of a hold. The file has its name only when it is whole. */
export async function storeBundle(client: AdminClient, call: AdminCall, { out }: Streams): Promise<void> {
  const { to: file = '', ...query } = call.query ?? {};
  const isNew = await stat(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  if (file === '' || !isNew) throw new CommandError(`--to must be a new file: ${file}`, USAGE);
  const response = await client.bytes('getHoldBundle', { ...call, query });
  const part = `${file}.part`;
  try {
    await pipeline(response, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(`the archive was cut off, and nothing was stored (${code ?? message})`, FAILURE);
  }
  out(`stored ${file}\n`);
}
