import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HostedRecordingQuery } from '../contracts/admin/hosted-vision.dto.js';
import { epochMillis, type Instant, instantOf, parseInstant } from '../contracts/common/instant.js';
import { AppError } from '../errors/app-error.js';
import { MediaError } from '../vision/hosted/media/media-error.js';
import { probeMp4 } from '../vision/hosted/media/probe-mp4.js';
import type { HostedRecordings } from '../vision/hosted/recordings.service.js';
import { CommandFailed } from './command-failed.js';
import { readInput } from './input.js';

/** What was recorded, and when the first film began where its name does not say so. */
export interface ImportOptions {
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime?: string;
}

interface Imported {
  readonly file: string;
  readonly result: 'imported' | 'known' | 'refused';
  readonly startTime: Instant;
  readonly endTime: Instant;
  readonly reason?: string;
}

/** `2026-01-31T08-30-00Z.mp4` or `20260131T083000Z.mp4`: file systems do not all take colons. */
const NAMED = /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2})[-_]?(\d{2})[-_]?(\d{2})Z\.mp4$/i;

/**
 * Imports every MP4 of a folder into the partner side, in order of the names. A film begins when its name says, else
 * where the one before it ended; it is as long as it is. What is there already is left alone, so an import that was cut
 * off may be run again.
 */
export async function importFolder(
  recordings: HostedRecordings,
  folder: string,
  options: ImportOptions,
): Promise<{ data: Imported[] }> {
  const files = await filmsOf(folder);
  if (files.length === 0) throw new CommandFailed(`there is no .mp4 file in ${folder}`);
  const data: Imported[] = [];
  let next = options.startTime;
  for (const file of files) {
    const startTime = startOf(file) ?? next;
    if (startTime === undefined) {
      throw new CommandFailed(
        `${file} does not say when it began: name it like 2026-01-31T08-30-00Z.mp4, or give --start-time`,
      );
    }
    const imported = await importFilm(recordings, join(folder, file), { ...options, startTime });
    data.push(imported);
    next = imported.endTime;
  }
  return { data };
}

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
  const durationSeconds = await lengthOf(path);
  const began = parseInstant(options.startTime ?? '');
  const endTime = began && instantOf(new Date(epochMillis(began) + Math.round(durationSeconds * 1000)));
  const query = readInput(HostedRecordingQuery, { ...options, endTime: endTime ?? options.startTime });
  const told = { file: basename(path), startTime: query.startTime, endTime: query.endTime };
  try {
    await recordings.add(query, createReadStream(path));
    return { ...told, result: 'imported' };
  } catch (error) {
    if (!(error instanceof AppError) || !['conflict', 'invalid', 'tooLarge'].includes(error.kind)) throw error;
    return { ...told, result: error.kind === 'conflict' ? 'known' : 'refused', reason: error.message };
  }
}

async function lengthOf(path: string): Promise<number> {
  try {
    return (await probeMp4(path)).durationSeconds;
  } catch (error) {
    if (error instanceof MediaError) throw new CommandFailed(`${basename(path)} cannot be imported: ${error.message}`);
    throw error;
  }
}
