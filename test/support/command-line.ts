import { expect } from '@jest/globals';
import { runCommandLine } from '../../src/cli/program.js';
import type { TestApp } from './app.js';

export interface CommandOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Lets commands work beside the service, on its database; returns what undoes it. */
export function commandsBeside(service: TestApp): () => void {
  const before = { ...process.env };
  process.env['DATABASE_URL'] = service.env.DATABASE_URL;
  process.env['ADMIN_TOKEN'] = service.env.ADMIN_TOKEN;
  process.env['SECRETS_KEY'] = '5a'.repeat(32);
  return () => {
    process.env = before;
  };
}

/** One command line, as a shell would run it. */
export async function runCommand(...words: string[]): Promise<CommandOutcome> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(words, { out: (text) => (out += text), err: (text) => (err += text) });
  return { code, out, err };
}

/** What a command answers in JSON; it must succeed. */
export async function answerOf<T>(...words: string[]): Promise<T> {
  const { code, out, err } = await runCommand(...words, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as T;
}
