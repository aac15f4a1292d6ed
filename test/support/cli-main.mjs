// The command line as a process of its own, from the sources. Arguments: the command's words.
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
await import('../../src/cli/main.ts');
