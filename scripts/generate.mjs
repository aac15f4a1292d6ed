// Writes the files that are made from the code: `npm run generate [-- NAME ...]`. With `--check` it writes nothing, and fails
// where a file differs.
import { registerTypeScript } from '../test/support/typescript-hook.mjs';

registerTypeScript();
const { generate } = await import('./generate/main.ts');
process.exitCode = await generate(process.argv.slice(2));
