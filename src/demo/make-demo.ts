import type { ResolvedEnv } from '../config/env.js';
import { reasonOf } from '../database/reason.js';
import { fillDemo } from './fill.js';
import { oneAtATime } from './one-at-a-time.js';
import { type Demo, seedDemo } from './seed.js';

/**
 * Sets the demo up and fills it, unless another instance does so at the moment: then afterwards. `onReady` gets what the examples
 * need, before the fill. Never throws: returns what is missing, in words; undefined if nothing is.
 */
export async function makeDemo(
  env: ResolvedEnv,
  baseUrl: string,
  signal: AbortSignal,
  onReady: (demo: Demo) => void,
): Promise<string | undefined> {
  try {
    const missing = await oneAtATime(env.DATABASE_URL, signal, async () => {
      const demo = await seedDemo(env, baseUrl);
      onReady(demo);
      return fillDemo(env, baseUrl, demo, signal);
    });
    return missing === undefined || missing.length === 0 ? undefined : missing.join('; ');
  } catch (error) {
    return reasonOf(error);
  }
}
