/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return
   -- a mutant breaks the types of the contract on purpose */
import type { KitAnswer } from '../../../src/conformance/exchange.js';

/** A server that differs from ours in the answer of one request, and the rule that must notice it. */
export interface Mutant {
  readonly rule: string;
  /** The request; of a list that is read page by page each page, or those whose names match. */
  readonly on: string | RegExp;
  /** `others` are the answers of our own server, by request; `plan` is the request, as `continuousAll 2`, sent to `url`. */
  readonly change: (answer: KitAnswer, others: ReadonlyMap<string, KitAnswer>, plan: string, url: string) => KitAnswer;
}

export type Body = any;
export type Change = Mutant['change'];

export const json =
  (change: (body: Body) => unknown): Change =>
  (answer) => {
    const body: unknown = JSON.parse(answer.body.toString('utf8'));
    return { ...answer, body: Buffer.from(JSON.stringify(change(body) ?? body)) };
  };
export const status =
  (code: number): Change =>
  (answer) => ({ ...answer, status: code });
export const header =
  (name: string, value: string | undefined): Change =>
  (answer) => {
    const others = Object.entries(answer.headers).filter(([each]) => each !== name);
    return { ...answer, headers: Object.fromEntries(value === undefined ? others : [...others, [name, value]]) };
  };
export const plain = header('content-type', 'text/plain');
export const broken: Change = (answer) => ({ ...answer, body: Buffer.from('{"success":') });
export const bytes =
  (text: string): Change =>
  (answer) => ({ ...answer, body: Buffer.from(text) });

/** Sets members of the last element of a list, or of the body; a path such as `billingAddress.city`. */
export function set(target: Body, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((each: Body, name) => each[name], target);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}
export const member = (path: string, value: unknown): Change => json((body) => void set(body, path, value));

/** Sends a member of the body under another name. */
export const renamed = (path: string, name: string): Change =>
  json((body) => {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce((each: Body, at) => each[at], body);
    parent[name] = parent[last];
    delete parent[last];
  });

export const on = (name: string | RegExp, rows: readonly (readonly [rule: string, change: Change])[]): Mutant[] =>
  rows.map(([rule, change]) => ({ rule, on: name, change }));
