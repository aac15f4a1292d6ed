import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { JsonScanner } from './json-scanner.js';
import { JsonSplitFault } from './json-split-fault.js';
import type { Piece } from './record-cutter.js';

export interface Split {
  /** The whole document with its lists empty, as JSON. */
  readonly envelope: string;
  readonly pieces: readonly Piece[];
}

/**
 * Finds the records of the named lists (`data.materials`) in a JSON document without parsing it, and returns to the
 * event loop every quarter of a megabyte. Envelope and pieces together are the whole text: when each of them parses,
 * the document is valid JSON. An envelope of more than a megabyte is refused where it becomes so large, whatever
 * follows. Measured: see docs/adr/0007.
 */
export async function splitJson(bytes: Buffer, lists: readonly string[], signal?: AbortSignal): Promise<Split> {
  if (!isUtf8(bytes)) throw new JsonSplitFault('notJson', '', 'is not UTF-8');
  const scanner = new JsonScanner(bytes, new Set(lists));
  const work = scanner.document();
  while (work.next().done !== true) {
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { envelope: scanner.envelope(), pieces: scanner.pieces };
}
