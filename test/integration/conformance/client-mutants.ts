import { type Call, type CallLog, checkCalls, type ClientRole } from '../../../src/conformance/client/client-rule.js';

/** A client that differs from ours in one thing that it did, and the rule that must notice it. */
export type ClientMutant = readonly [rule: string, change: (calls: readonly Call[]) => Call[]];

export type Pick = (call: Call) => boolean;

/** Changes the first such call. */
export const change =
  (pick: Pick, edit: (call: Call) => Call) =>
  (calls: readonly Call[]): Call[] => {
    const at = calls.findIndex(pick);
    if (at < 0) throw new Error('no call to change');
    return calls.map((call, i) => (i === at ? edit(call) : call));
  };

/** Leaves out such calls. */
export const without =
  (pick: (call: Call, calls: readonly Call[]) => boolean) =>
  (calls: readonly Call[]): Call[] =>
    calls.filter((call) => !pick(call, calls));

/** Adds a call at the end, made of an earlier one. */
export const added =
  (pick: Pick, edit: (call: Call) => Call = (call) => ({ ...call })) =>
  (calls: readonly Call[]): Call[] => {
    const found = calls.find(pick);
    if (found === undefined) throw new Error('no call to repeat');
    const answer = { status: 200, headers: {}, body: Buffer.from('{}') };
    return [...calls, { ...edit(found), answer, at: (calls.at(-1)?.at ?? 0) + 5_000 }];
  };

export const withBody =
  (edit: (body: Record<string, unknown>) => unknown) =>
  (call: Call): Call => {
    const body = JSON.parse(call.body.toString('utf8')) as Record<string, unknown>;
    return { ...call, body: Buffer.from(JSON.stringify(edit(body))) };
  };

export const withHeader =
  (name: string, ...values: string[]) =>
  (call: Call): Call => ({
    ...call,
    headers: [
      ...call.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase()),
      ...values.map((value): [string, string] => [name, value]),
    ],
  });

export const isMet =
  (operation: string, scenario: string): Pick =>
  (call) =>
    call.operation === operation && call.answer.scenario === scenario;

/** `materials[0].quantity` style paths are not needed: the first element of an array is meant. */
export function set(value: unknown, path: readonly string[], to: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return to;
  if (Array.isArray(value)) return (value as unknown[]).map((each, i) => (i === 0 ? set(each, path, to) : each));
  const object = value as Record<string, unknown>;
  return { ...object, [name]: set(object[name], rest, to) };
}

/** The mutants that were found by another rule than theirs, or by none. */
export function wronglyFound(role: ClientRole, log: CallLog, mutants: readonly ClientMutant[]): string[] {
  return mutants.flatMap(([rule, mutate]) => {
    const results = checkCalls(role, { ...log, calls: mutate(log.calls) }, 'http://kit');
    const found = results.filter(({ outcome }) => ['failed', 'warning', 'kit-error'].includes(outcome));
    const ids = found.map((each) => each.rule.id).join();
    return ids === rule ? [] : [`${rule}: found by ${ids || 'none'}`];
  });
}
