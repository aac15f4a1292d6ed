import { randomBytes } from 'node:crypto';
import type { ResolvedEnv } from '../core/config/env.js';

/** Acts on the demo as a person would: the action log names it. */
export const DEMO_PERSON = 'dana.reyes';

/** With a token of that person, which nobody else learns and which ends with this process. */
export function withDemoPerson(env: ResolvedEnv): ResolvedEnv {
  const person = { name: DEMO_PERSON, token: randomBytes(32).toString('base64url'), role: 'operator' } as const;
  return { ...env, ADMIN_TOKENS: [...(env.ADMIN_TOKENS ?? []), person] };
}
