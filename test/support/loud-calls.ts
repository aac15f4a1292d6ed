import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface LoudCaller {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** A small push; large ones with an unknown field, many materials or many unknown fields; large and medium ones that are refused with 400; one that is refused with 422; a large account; a GET. */
  readonly kind: 'small' | 'bulk' | 'materials' | 'fields' | 'refused' | 'medium' | 'unknown' | 'account' | 'read';
  readonly keyed?: boolean;
  readonly siteId?: string;
  readonly materialId?: string;
}

/** Starts loud callers. The returned function ends them and resolves to the number of their answers by status. */
export async function startLoudCallers(callers: readonly LoudCaller[]): Promise<() => Promise<Record<string, number>>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'loud-caller.mjs'), JSON.stringify(callers)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await nextLine(child);
  return async () => {
    const counts = nextLine(child);
    child.kill('SIGTERM');
    return JSON.parse(await counts) as Record<string, number>;
  };
}

async function nextLine(child: ChildProcess): Promise<string> {
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return line.toString();
}
