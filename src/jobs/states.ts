/** A move that the table does not allow: a fault of the program, never of a partner. */
export class ForbiddenMove extends Error {
  constructor(subject: string, from: string, to: string) {
    super(`${subject} cannot move from ${from} to ${to}`);
    this.name = 'ForbiddenMove';
  }
}

export interface States<State extends string> {
  readonly all: readonly State[];
  /** Throws `ForbiddenMove` unless the table has it. */
  assertMove(from: State, to: State): void;
  canMove(from: State, to: State): boolean;
  /** No move leads out of it. */
  isFinal(state: State): boolean;
  /** For the WHERE of a set-based move: the states from which `to` may be reached. */
  before(to: State): State[];
}

/** The states of a `States`, as a type. */
export type StateOf<S> = S extends States<infer State> ? State : never;

/**
 * Derives the type, the check and the queries from one literal, the allowed moves of a kind of row: every state, and the
 * states that may follow it:
 * `defineStates('a video request', { processing: ['ready', 'failed'], ready: [], failed: [] })`.
 */
export function defineStates<const M extends Readonly<Record<string, readonly (keyof M & string)[]>>>(
  subject: string,
  moves: M,
): States<keyof M & string> {
  type State = keyof M & string;
  const all = Object.keys(moves) as State[];
  const canMove = (from: State, to: State): boolean => moves[from]?.includes(to) ?? false;
  return {
    all,
    canMove,
    assertMove(from, to) {
      if (!canMove(from, to)) throw new ForbiddenMove(subject, from, to);
    },
    isFinal: (state) => moves[state]?.length === 0,
    before: (to) => all.filter((from) => canMove(from, to)),
  };
}
