// For `node --import`: child processes of the sources load TypeScript as their parent does.
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
