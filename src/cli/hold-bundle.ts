import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { AdminCall, AdminClient } from '../admin-client/admin-client.js';
import { BUNDLE_PROBLEMS } from '../contracts/admin/hold-bundle.dto.js';
import { CommandError, FAILURE, USAGE } from './command-error.js';
import type { Streams } from './program.js';

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
  const problems = Number(response.trailers[BUNDLE_PROBLEMS.toLowerCase()] ?? 0);
  if (problems > 0)
    throw new CommandError(`${countText(problems)}: PROBLEMS.txt of the archive names what is wrong`, FAILURE);
}

const countText = (problems: number): string =>
  problems === 1 ? 'one file is gone or differs' : `${problems} files are gone or differ`;
