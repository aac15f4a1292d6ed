import { BACKSLASH, CLOSE_BRACE, OPEN_BRACE, QUOTE, SHAPE } from '../contracts/common/json-codes.js';
import { MAX_JSON_DEPTH } from '../contracts/common/json-text.js';

const ZERO = 0x30;
const BLANK = 0x20;

/**
 * The same JSON, with a 0 in the place of each array and object that is nested deeper than `MAX_JSON_DEPTH`: whatever
 * walks through the rest may be recursive. What was cut out may have been no JSON.
 */
export function shallowJson(bytes: Buffer): Buffer {
  let result = bytes;
  let depth = 0;
  let inText = false;
  let escaped = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const within = depth > MAX_JSON_DEPTH;
    if (inText) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if ((byte | SHAPE) === OPEN_BRACE) depth++;
    else if ((byte | SHAPE) === CLOSE_BRACE) depth--;
    if (!within && depth <= MAX_JSON_DEPTH) continue;
    if (result === bytes) result = Buffer.from(bytes);
    result[i] = within ? BLANK : ZERO;
  }
  return result;
}
