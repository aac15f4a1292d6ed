import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Runs the check against a registry on this machine. */
async function check(answer: RequestListener): Promise<{ readonly code: number; readonly text: string }> {
  const registry = createServer(answer).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  const child = spawn(process.execPath, ['scripts/check-advisories.mjs'], {
    env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number];
  registry.close();
  registry.closeAllConnections();
  return { code, text };
}

const answerJson =
  (body: object): RequestListener =>
  (request, response) => {
    request.resume();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(request.method === 'POST' ? body : packageOf(request.url ?? '')));
  };

/** npm reads the versions of a package that has an advisory, and of those that depend on it. */
const packageOf = (url: string) => ({ name: decodeURIComponent(url.slice(1)), versions: {}, 'dist-tags': {} });

const ADVISORY = {
  id: 1,
  url: 'https://advisories.example/1',
  title: 'Test',
  severity: 'low',
  vulnerable_versions: '*',
};

describe('npm run check:advisories', () => {
  test('fails and names a package with a known advisory', async () => {
    const { code, text } = await check(answerJson({ express: [ADVISORY] }));
    expect([code, text]).toEqual([1, expect.stringContaining('express: low: Test https://advisories.example/1')]);
  });

  test('passes if there is none', async () => {
    expect(await check(answerJson({}))).toEqual({ code: 0, text: '' });
  });

  test('says so and passes if the registry does not answer', async () => {
    const { code, text } = await check((request, response) => {
      request.resume();
      response.writeHead(405).end();
    });
    expect([code, text]).toEqual([0, expect.stringContaining('advisories: not checked')]);
  });
});
