import type pg from 'pg';

/** What pg calls on a query of its own kind, as far as COPY needs it. */
interface CopyConnection {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** COPY of ready-made bytes, the fastest way into PostgreSQL: for floors. The connection must not be pipelined. */
export function copyIn(client: pg.Client, sql: string, pieces: readonly Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection: CopyConnection) => connection.query(sql),
      handleCopyInResponse(connection: CopyConnection) {
        for (const piece of pieces) connection.sendCopyFromChunk(piece);
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: reject,
      callback: () => undefined,
    } as unknown as pg.Submittable);
  });
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Rows in the text format of COPY. */
export function copyText(rows: Iterable<readonly (string | null)[]>): Buffer[] {
  const pieces: Buffer[] = [];
  let text = '';
  for (const row of rows) {
    const cells = row.map((cell) => cell?.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') ?? '\\N');
    text += `${cells.join('\t')}\n`;
    if (text.length < 65_536) continue;
    pieces.push(Buffer.from(text));
    text = '';
  }
  return [...pieces, Buffer.from(text)];
}
