// `npm run migrate` as a process of its own, from the sources.
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
await import('../../src/database/migrate-command.ts');
