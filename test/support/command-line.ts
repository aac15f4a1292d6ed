import { expect } from '@jest/globals';
import { runCommandLine } from '../../src/cli/program.js';
import type { LocalService } from '../../src/core/config/local-service.js';
import type { TestApp } from './app.js';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let local: LocalService | undefined;

/** Lets commands call this service; returns a function that ends it. */
export function commandsBeside(service: Pick<TestApp, 'url' | 'env'>): () => void {
  local = { url: service.url, token: service.env.ADMIN_TOKEN };
  return () => {
    local = undefined;
  };
}

/** Runs one command line as a shell would. */
export async function runCommand(...words: string[]): Promise<CommandOutcome> {
  let [out, err] = ['', ''];
  const streams = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await runCommandLine(words, streams, local);
  return { code, out, err };
}

/** The JSON that a command prints; the command must succeed. */
export async function answerOf<T>(...words: string[]): Promise<T> {
  const { code, out, err } = await runCommand(...words, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as T;
}
