type Undo = () => Promise<unknown> | void;

const undos: Undo[] = [];

/** Stops and removes everything that a benchmark started, in reverse order, also if it fails. */
export function atEnd(undo: Undo): void {
  undos.push(undo);
}

export async function undoAll(): Promise<void> {
  for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
    await Promise.resolve(undo()).catch((error: unknown) => console.error(error));
  }
}
