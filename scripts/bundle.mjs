// Bundles the compiled sources with their packages: `bundle.mjs <folder of the build>`. A service of some files starts with
// two thirds of the processor time that one of 4,000 takes. The conformance kit becomes one file that needs nothing but Node.js 20.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const [folder = 'dist'] = process.argv.slice(2);
const compiled = join(folder, 'compiled/src');

/** What Node.js starts by its path. */
const PROGRAMS = ['main', 'cli/main', 'migrate', 'reference-partner/vision/media/media-child'];

const shared = { bundle: true, platform: 'node', format: 'esm', legalComments: 'none', logLevel: 'warning' };

await build({
  ...shared,
  entryPoints: PROGRAMS.map((program) => ({ in: join(compiled, `${program}.js`), out: program })),
  outdir: join(folder, 'src'),
  // What one of them loads later, and what several load.
  splitting: true,
  chunkNames: 'parts/[name]-[hash]',
  target: 'node24',
  // Errors, logs and Nest name classes and functions.
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  // Nest imports the first two by their names when it first needs them. The others are optional: the image is built without them.
  external: [
    ...['class-transformer', 'class-validator', 'reflect-metadata'],
    ...['pg-native', 'pg-cloudflare', '@nestjs/microservices', '@nestjs/websockets', '@fastify/static'],
  ],
  // Before any class of any part; the rest is for packages in CommonJS.
  banner: {
    js: [
      `import 'reflect-metadata';`,
      `import { createRequire as requireOf } from 'node:module';`,
      `const require = requireOf(import.meta.url);`,
      `const { dirname: __dirname, filename: __filename } = import.meta;`,
    ].join('\n'),
  },
});
cpSync(join(compiled, 'demo/recordings'), join(folder, 'src/demo/recordings'), { recursive: true });

await build({
  ...shared,
  entryPoints: [join(compiled, 'conformance/main.js')],
  outfile: join(folder, 'conformance/haulbridge-conformance.mjs'),
  target: 'node20',
  mainFields: ['module', 'main'],
  banner: { js: '#!/usr/bin/env node' },
});
