import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './file-durability.js';
import type { Memo } from './storage.js';

const STATE = 'state.json';

/** What is written beside a part, so that a later writer can go on with it. */
export interface PartState {
  /** The part's name, in the same folder. */
  readonly part: string;
  /** Bytes that are durable; the part may have more. */
  readonly length: number;
  readonly memo: Memo;
}

/** Undefined where there is none, or none that can be understood: the file is then begun anew. */
export async function readPartState(folder: string): Promise<PartState | undefined> {
  const text = await readFile(join(folder, STATE), 'utf8').catch(() => '');
  const state = parsed(text);
  return isPartState(state) ? state : undefined;
}

export const writePartState = (folder: string, state: PartState): Promise<void> =>
  replaceFile(join(folder, STATE), JSON.stringify(state));

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
  'part' in value &&
  /^[0-9a-f]{16}\.part$/.test(String(value.part)) &&
  'length' in value &&
  Number.isSafeInteger(value.length) &&
  'memo' in value &&
  typeof value.memo === 'object';
