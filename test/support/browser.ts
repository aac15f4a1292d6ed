import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserServer, chromium as playwright, type LaunchOptions } from 'playwright-core';
import { eventually } from './eventually.js';
import { testServer } from './test-run.js';

const UNPACKING_MS = 30_000;

// It would emulate a graphics card, which no page needs, and which takes a third of the time of an ordinary page.
chromium.setGraphicsMode = false;

/** Chromium from the packages, headless. It is unpacked into the folder: by default, that of this run of the tests. */
export async function startBrowser(folder = testServer().folder): Promise<Browser> {
  return playwright.launch(await launchOptions(folder));
}

/** The same, for several processes, which connect to its address. */
export async function startBrowserServer(): Promise<BrowserServer> {
  return playwright.launchServer({ ...(await launchOptions(testServer().folder)), host: '127.0.0.1' });
}

async function launchOptions(folder: string): Promise<LaunchOptions> {
  const unpacked = (...path: string[]) => join(folder, ...path);
  const executablePath = await extractedBrowser(folder, unpacked);
  return {
    executablePath,
    // In a single process no page can be opened after another context was closed.
    args: [
      ...chromium.args.filter((each) => each !== '--single-process'),
      '--disable-background-networking',
      '--disable-component-update',
    ],
    env: { ...process.env, LD_LIBRARY_PATH: unpacked('al2023', 'lib'), FONTCONFIG_PATH: unpacked('fonts') },
    headless: true,
  };
}

type PathIn = (...path: string[]) => string;

/** Unpacked once for the run. A second test file that needs it at the same time waits until it is complete. */
async function extractedBrowser(folder: string, unpacked: PathIn): Promise<string> {
  const done = unpacked('browser-path');
  const isFirst = await writeFile(unpacked('browser-lock'), '', { flag: 'wx' }).then(
    () => true,
    () => false,
  );
  if (!isFirst) return eventually(() => readFile(done, 'utf8'), UNPACKING_MS);
  const path = await extractBrowser(folder, unpacked);
  await writeFile(`${done}.new`, path);
  await rename(`${done}.new`, done);
  return path;
}

/**
 * The browser is unpacked into the temporary folder, always under one name: into the one of this run, so that no other
 * user's is found there. Jest hands its environment only to processes of their own. By the name of a runtime that has
 * nothing else the package is moved to unpack the libraries of the browser too: small systems lack them, and fonts.
 */
async function extractBrowser(folder: string, unpacked: PathIn): Promise<string> {
  const script =
    "import('@sparticuz/chromium').then(async (m) => process.stdout.write(await m.default.executablePath()))";
  const env = { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env });
  // The one that comes with the fonts looks for them in /tmp.
  const settings = `<fontconfig><dir>${unpacked('fonts')}</dir><cachedir>${unpacked('fonts-cache')}</cachedir></fontconfig>`;
  await writeFile(unpacked('fonts', 'fonts.conf'), settings);
  return stdout;
}
