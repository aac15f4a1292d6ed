// The whole service as a process of its own, from the sources, configured by its environment.
import { setInterval } from 'node:timers';
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
await import('../../src/main.ts');
// It must not outlive a test run that was killed.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
