// Builds the admin console into static files: `build-console.mjs FOLDER`. The names of scripts and styles contain a hash of
// their content, so that browsers may cache them without a limit.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = 'src/console';
const folder = process.argv[2];
const assets = join(folder, 'assets');

rmSync(folder, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });
await build({
  entryPoints: { console: `${SOURCE}/app.tsx`, icon: `${SOURCE}/icon.svg` },
  outdir: assets,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  bundle: true,
  // A page is loaded when it is opened first.
  splitting: true,
  minify: true,
  format: 'esm',
  target: 'es2023',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  logLevel: 'warning',
});
const names = readdirSync(assets);
const addressOf = (ending) =>
  `/console/assets/${names.find((name) => name.endsWith(ending) && !name.startsWith('part-'))}`;
const page = readFileSync(join(SOURCE, 'index.html'), 'utf8').replace(/\{\{(\.\w+)\}\}/g, (_, ending) =>
  addressOf(ending),
);
writeFileSync(join(folder, 'index.html'), page);
// Its code is in the scripts: the container does not install it.
copyFileSync('node_modules/preact/LICENSE', join(folder, 'LICENSE.preact'));
