import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const LOADER = join(import.meta.dirname, 'register-typescript.mjs');

/** Arguments with which Node.js runs a source in a process of its own. `path` starts at the root of the project. */
export const fromSource = (path: string): string[] => ['--import', LOADER, join(ROOT, path)];
