/** A transition that the table does not allow. It is a fault of this program, never of a partner. */
export class InvalidTransitionError extends Error {
  constructor(subject: string, from: string, to: string) {
    super(`${subject} cannot move from ${from} to ${to}`);
    this.name = 'InvalidTransitionError';
  }
}

export interface States<State extends string> {
  readonly all: readonly State[];
  canTransition(from: State, to: State): boolean;
  /** Throws `InvalidTransitionError` unless the table allows the transition. */
  assertTransition(from: State, to: State): void;
  /** No transition leads out of a final state. */
  isFinal(state: State): boolean;
  /** The states from which `to` can be reached, for the WHERE of a set-based update. */
  predecessors(to: State): State[];
}

/** The union type of the states of a `States`. */
export type StateOf<S> = S extends States<infer State> ? State : never;

/**
 * Derives types, checks and queries from one literal: every state with the states that may follow it.
 * `defineStates('a video request', { processing: ['ready', 'failed'], ready: [], failed: [] })`
 */
export function defineStates<const T extends Readonly<Record<string, readonly (keyof T & string)[]>>>(
  subject: string,
  transitions: T,
): States<keyof T & string> {
  type State = keyof T & string;
  const all = Object.keys(transitions) as State[];
  const canTransition = (from: State, to: State): boolean => transitions[from]?.includes(to) ?? false;
  return {
    all,
    canTransition,
    assertTransition(from, to) {
      if (!canTransition(from, to)) throw new InvalidTransitionError(subject, from, to);
    },
    isFinal: (state) => transitions[state]?.length === 0,
    predecessors: (to) => all.filter((from) => canTransition(from, to)),
  };
}
