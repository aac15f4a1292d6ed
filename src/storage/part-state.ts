import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './file-durability.js';
import type { Memo } from './storage.js';

/** What is written beside a part, so that a later writer can go on with it. */
export interface PartState {
  /** Bytes that are durable; the part may have more. */
  readonly length: number;
  readonly memo: Memo;
}

/** Each part has a state of its own: a late writer cannot put its own in the place of its successor's. */
const stateOf = (folder: string, part: string): string => join(folder, `${part}.json`);

/** Names of the parts in a folder. */
export const partsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(() => [])).filter((entry) => entry.endsWith('.part'));

/** Undefined where there is none, or none that can be understood: the file is then begun anew. */
export async function readPartState(folder: string, part: string): Promise<PartState | undefined> {
  const text = await readFile(stateOf(folder, part), 'utf8').catch(() => '');
  const state = parsed(text);
  return isPartState(state) ? state : undefined;
}

export const writePartState = (folder: string, part: string, state: PartState): Promise<void> =>
  replaceFile(stateOf(folder, part), JSON.stringify(state));

/** With its state. */
export async function removePart(folder: string, part: string): Promise<void> {
  await rm(join(folder, part), { force: true });
  await rm(stateOf(folder, part), { force: true });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isPartState = (value: unknown): value is PartState =>
  typeof value === 'object' &&
  value !== null &&
  'length' in value &&
  Number.isSafeInteger(value.length) &&
  'memo' in value &&
  typeof value.memo === 'object';
