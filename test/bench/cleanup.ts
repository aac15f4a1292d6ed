type Undo = () => Promise<unknown> | void;

const undos: Undo[] = [];

/** What a benchmark has started and made, undone at its end however it ends, the last first. */
export function atEnd(undo: Undo): void {
  undos.push(undo);
}

export async function undoAll(): Promise<void> {
  for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
    await Promise.resolve(undo()).catch((error: unknown) => console.error(error));
  }
}
