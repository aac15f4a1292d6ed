// Bundles the conformance kit into one file that needs nothing but Node.js 20: `bundle-conformance.mjs <folder of the build>`.
import { join } from 'node:path';
import { build } from 'esbuild';

const [folder = 'dist'] = process.argv.slice(2);

await build({
  entryPoints: [join(folder, 'src/conformance/main.js')],
  outfile: join(folder, 'conformance/haulbridge-conformance.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  banner: { js: '#!/usr/bin/env node' },
  logLevel: 'warning',
});
