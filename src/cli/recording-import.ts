import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { FilePathSource, Input, MP4, QTFF } from 'mediabunny';
import { AdminCallError, type AdminClient } from './admin-client.js';
import { ADMIN_ROUTES } from '../contracts/admin/admin.api.js';
import { epochMillis, formatInstant, instantOf, parseInstant } from '../contracts/common/instant.js';
import { CommandError, FAILURE, USAGE } from './command-error.js';
import { optionsOf } from './options.js';

const NO_START = 'has no start time: name the file like 2026-01-31T08-30-00Z.mp4, or pass --start-time';

interface Imported {
  readonly file: string;
  readonly result: 'imported' | 'known' | 'refused';
  readonly startTime?: string;
  readonly endTime?: string;
  readonly reason?: string;
}

interface Recording {
  readonly startTime: string;
  readonly endTime: string;
}

/** `2026-01-31T08-30-00Z.mp4` or `20260131T083000Z.mp4`, because some file systems refuse colons. */
const START_IN_NAME = /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2})[-_]?(\d{2})[-_]?(\d{2})Z\.mp4$/i;

/** The options of the upload without the end, which follows from the length of each recording. */
export function addImportOptions(command: Command): void {
  command
    .summary('Import a folder of MP4 recordings into the partner side')
    .description('Imports a folder of MP4 recordings into the partner side. Recordings that exist are skipped.')
    .argument('<folder>', 'recordings named by their start, such as 2026-01-31T08-30-00Z.mp4, or in sequence');
  for (const option of optionsOf(ADMIN_ROUTES.uploadHostedRecording)) {
    if (option.attributeName() === 'endTime') continue;
    if (option.attributeName() === 'startTime') {
      option.makeOptionMandatory(false).description = 'Start of the first recording, if its name does not contain it';
    }
    command.addOption(option);
  }
}

/**
 * Uploads each MP4 file of a folder in the order of the names. A recording starts at the time in its name, else at the
 * end of the one before. A recording that the service refuses does not stop the import; a service that fails does.
 */
export async function importFolder(
  client: AdminClient,
  folder: string,
  { startTime, ...camera }: Readonly<Record<string, string>>,
): Promise<{ data: Imported[]; failure?: string }> {
  const files = await recordingsIn(folder);
  if (files[0] === undefined) throw new CommandError(`${folder} contains no .mp4 file`, FAILURE);
  if (startTime !== undefined && parseInstant(startTime) === undefined) {
    throw new CommandError(
      '--start-time must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z',
      USAGE,
    );
  }
  if (startTime === undefined && !files.some(startInName)) throw new CommandError(`${files[0]} ${NO_START}`, FAILURE);
  const data: Imported[] = [];
  let next = startTime;
  for (const file of files) {
    const path = join(folder, file);
    try {
      const recording = await readRecording(path, startInName(file) ?? next);
      data.push({ file, ...recording, ...(await upload(client, path, { ...camera, ...recording })) });
      next = recording.endTime;
    } catch (error) {
      const { message } = error as Error;
      data.push({ file, result: 'refused', reason: message });
      if (isWrongForAll(error)) throw error;
      if (isServiceFailure(error)) return { data, failure: `the import ended at ${file}: ${message}` };
      next = undefined;
    }
  }
  const refused = data.filter(({ result }) => result === 'refused').map(({ file }) => file);
  if (refused.length === 0) return { data };
  return { data, failure: `${refused.join(', ')} cannot be imported: see the reasons in the table` };
}

async function recordingsIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${folder} cannot be read as a folder: ${error.code ?? error.message}`, FAILURE);
  });
  return files.filter((file) => /\.mp4$/i.test(file)).sort();
}

function startInName(file: string): string | undefined {
  const [, year, month, day, hour, minute, second] = START_IN_NAME.exec(file) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

async function readRecording(path: string, start: string | undefined): Promise<Recording> {
  if (start === undefined) throw new Error(`it ${NO_START}`);
  const startTime = parseInstant(start);
  if (startTime === undefined) throw new Error(`its name contains no real time: ${start}`);
  const endTime = instantOf(new Date(epochMillis(startTime) + Math.round((await durationOf(path)) * 1000)));
  return { startTime: formatInstant(startTime), endTime: formatInstant(endTime) };
}

/** In seconds. */
async function durationOf(path: string): Promise<number> {
  const input = new Input({ formats: [MP4, QTFF], source: new FilePathSource(path) });
  try {
    return (await input.computeDuration()) - (await input.getFirstTimestamp());
  } catch (error) {
    throw new Error(`it is not a readable MP4 file: ${(error as Error).message}`, { cause: error });
  } finally {
    input.dispose();
  }
}

async function upload(
  client: AdminClient,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<Pick<Imported, 'result' | 'reason'>> {
  const { size } = await stat(path);
  try {
    await client.json('uploadHostedRecording', { query, upload: { content: createReadStream(path), sizeBytes: size } });
    return { result: 'imported' };
  } catch (error) {
    if (!(error instanceof AdminCallError) || error.status !== 409) throw error;
    return { result: 'known', reason: error.message };
  }
}

/** The service refused the names of the camera, which all recordings share. */
function isWrongForAll(error: unknown): boolean {
  return (
    error instanceof AdminCallError &&
    error.violations.some(({ path }) => ['customerId', 'truckId', 'cameraId'].includes(path))
  );
}

function isServiceFailure(error: unknown): boolean {
  return error instanceof AdminCallError && error.status !== 400 && error.status !== 413;
}
