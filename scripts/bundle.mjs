// Bundles the compiled sources with their packages: `bundle.mjs <folder of the build>`. Node starts a service of some files
// in half of the time that one of 4,000 takes. The conformance kit becomes one file that needs nothing but Node.js 20.
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const [folder = 'dist'] = process.argv.slice(2);
const compiled = join(folder, 'compiled/src');

/** What Node.js starts by its path. */
const PROGRAMS = ['main', 'cli/main', 'database/migrate-command', 'reference-partner/vision/media/media-child'];

const shared = { bundle: true, platform: 'node', format: 'esm', legalComments: 'none', logLevel: 'warning' };

/** Nest loads these later, and a part in CommonJS that is loaded later has no names. */
const staticValidation = {
  name: 'static-validation',
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /@nestjs\/common\/(pipes\/validation\.pipe|serializer\/class-serializer\.interceptor)\.js$/ },
      ({ path }) => ({
        contents: [
          `import * as validator from 'class-validator';`,
          `import * as transformer from 'class-transformer';`,
          readFileSync(path, 'utf8').replace(/import\('class-(validator|transformer)'\)/g, '$1'),
        ].join('\n'),
      }),
    ),
};

/** `@nestjs/typeorm` asks the package on the disk, a second copy, for two classes that TypeORM 1 no longer has. */
const oneTypeorm = {
  name: 'one-typeorm',
  setup: ({ onLoad }) =>
    onLoad({ filter: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ }, () => ({
      contents: 'export const Connection = undefined, AbstractRepository = undefined;',
    })),
};

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
  // The others are optional parts of packages, which are not installed.
  external: ['reflect-metadata', 'pg-native', '@nestjs/microservices', '@nestjs/websockets', '@fastify/static'],
  // Before any class of any part; the rest is for packages in CommonJS.
  banner: {
    js: [
      `import 'reflect-metadata';`,
      `import { createRequire as requireOf } from 'node:module';`,
      `const require = requireOf(import.meta.url);`,
      `const { dirname: __dirname, filename: __filename } = import.meta;`,
    ].join('\n'),
  },
  plugins: [oneTypeorm, staticValidation],
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
