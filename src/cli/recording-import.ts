import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HostedRecordingQuery, RecordedCamera } from '../contracts/admin/hosted-vision.dto.js';
import { InstantField } from '../contracts/common/fields/instant-field.js';
import { epochMillis, formatInstant, type Instant, instantOf, parseInstant } from '../contracts/common/instant.js';
import { reasonOf } from '../database/reason.js';
import { AppError } from '../errors/app-error.js';
import { MediaError } from '../vision/hosted/media/media-error.js';
import { durationOfMp4 } from '../vision/hosted/media/probe-mp4.js';
import type { HostedRecordings } from '../vision/hosted/recordings.service.js';
import { CommandFailed } from './command-failed.js';
import { FailedWithAnswer } from './command-line.js';
import { readInput } from './input.js';

/** What was recorded, and when the first film began where its name does not say so. */
class ImportOptions extends RecordedCamera {
  @InstantField({ description: 'When the first film began', optional: true })
  startTime?: Instant;
}

const NO_START = 'does not say when it began: name it like 2026-01-31T08-30-00Z.mp4, or give --start-time';

interface Imported {
  readonly file: string;
  readonly result: 'imported' | 'known' | 'refused';
  /** As answers write them; absent where the film does not tell. */
  readonly startTime?: string;
  readonly endTime?: string;
  readonly reason?: string;
}

/** `2026-01-31T08-30-00Z.mp4` or `20260131T083000Z.mp4`: file systems do not all take colons. */
const NAMED = /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2})[-_]?(\d{2})[-_]?(\d{2})Z\.mp4$/i;

/**
 * Imports every MP4 of a folder into the partner side, in order of the names. A film begins when its name says, else
 * where the one before it ended; it is as long as it is. What is there already is left alone, so an import that was cut
 * off may be run again. Options that are wrong are `invalid` before any film. A film that cannot be imported is told
 * with its reason, and the others go on; where not the film is at fault, but the storage or the database, it ends there.
 */
export async function importFolder(
  recordings: HostedRecordings,
  folder: string,
  given: object,
): Promise<{ data: Imported[] } | FailedWithAnswer> {
  // What all films have in common is told once, and not with each of them.
  const options = readInput(ImportOptions, given);
  const files = await filmsOf(folder);
  if (files[0] === undefined) throw new CommandFailed(`there is no .mp4 file in ${folder}`);
  let next = options.startTime;
  if (next === undefined && !files.some(startOf)) throw new CommandFailed(`${files[0]} ${NO_START}`);
  const data: Imported[] = [];
  for (const file of files) {
    try {
      const imported = await importFilm(recordings, join(folder, file), {
        ...options,
        startTime: startOf(file) ?? next,
      });
      data.push(imported);
      next = imported.endTime;
    } catch (error) {
      data.push({ file, result: 'refused', reason: reasonOf(error, Error) });
      if (!isOfFilm(error)) return new FailedWithAnswer({ data }, `the import ended at ${file}: the table says why`);
      next = undefined;
    }
  }
  const refused = data.filter(({ result }) => result === 'refused').map(({ file }) => file);
  if (refused.length === 0) return { data };
  return new FailedWithAnswer({ data }, `${refused.join(', ')} cannot be imported: the table says why`);
}

/** Another film may do better. */
const isOfFilm = (error: unknown): boolean =>
  error instanceof MediaError ||
  (error instanceof AppError && ['invalid', 'tooLarge'].includes(error.kind)) ||
  (error instanceof Error && (error as NodeJS.ErrnoException).path !== undefined);

async function filmsOf(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(`${folder} cannot be read as a folder: ${error.code ?? error.message}`);
  });
  return files.filter((file) => /\.mp4$/i.test(file)).sort();
}

function startOf(file: string): string | undefined {
  const [, year, month, day, hour, minute, second] = NAMED.exec(basename(file)) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

async function importFilm(recordings: HostedRecordings, path: string, options: ImportOptions): Promise<Imported> {
  const file = basename(path);
  if (options.startTime === undefined) throw new AppError('invalid', `it ${NO_START}`);
  const startTime = parseInstant(options.startTime);
  if (startTime === undefined) throw new AppError('invalid', `its name gives no real time: ${options.startTime}`);
  const durationSeconds = await durationOfMp4(path);
  const endTime = instantOf(new Date(epochMillis(startTime) + Math.round(durationSeconds * 1000)));
  const told = { file, startTime: formatInstant(startTime), endTime: formatInstant(endTime) };
  const query = readInput(HostedRecordingQuery, { ...options, startTime, endTime });
  const film = createReadStream(path);
  try {
    await recordings.add(query, film);
    return { ...told, result: 'imported' };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'conflict') throw error;
    return { ...told, result: 'known', reason: error.message };
  } finally {
    // Of a known film nothing is read, and a thousand of them are more files than a process may have open.
    film.destroy();
  }
}
