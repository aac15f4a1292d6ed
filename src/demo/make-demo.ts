import type { ResolvedEnv } from '../core/config/env.js';
import { messageOf } from './calls.js';
import { fillDemo } from './fill.js';
import { oneAtATime } from './one-at-a-time.js';
import { type Demo, seedDemo } from './seed.js';

export interface MadeDemo {
  /** What the examples need; undefined if not even that could be made. */
  readonly demo?: Demo;
  /** What could not be made, each with its reason. */
  readonly missing: readonly string[];
}

/** Sets the demo up and fills it, while no other instance on the database does. Never throws. */
export async function makeDemo(env: ResolvedEnv, baseUrl: string, signal: AbortSignal): Promise<MadeDemo> {
  let demo: Demo | undefined;
  try {
    const missing = await oneAtATime(env.DATABASE_URL, signal, async () => {
      demo = await seedDemo(env, baseUrl);
      return fillDemo(env, baseUrl, demo, signal);
    });
    return { ...(demo && { demo }), missing: missing ?? [] };
  } catch (error) {
    return { ...(demo && { demo }), missing: [messageOf(error)] };
  }
}
